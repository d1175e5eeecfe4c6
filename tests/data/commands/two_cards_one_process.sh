# 20 GiB each
ranks=1

CUDA_VISIBLE_DEVICES=2,3 \
NPROC_PER_NODE=$ranks \
swift sft \
    --model Qwen/Qwen3-0.6B \
    --train_type lora \
    --dataset 'swift/self-cognition#50' 'me/rows#7' \
    --gradient_accumulation_steps $(expr 12 / $ranks) \
    --save_steps $((ranks * 40 + 10)) \
    --learning_rate 2e-4 \
    --system 'You are a "patient" helper.' \
    --gradient_checkpointing_kwargs '{"use_reentrant": false}' \
    --model_author ann \
    --model_name annie
