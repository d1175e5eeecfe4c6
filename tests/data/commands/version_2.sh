NPROC_PER_NODE=2 CUDA_VISIBLE_DEVICES=0,1 \
swift sft \
    --model_type qwen1half-7b-chat \
    --sft_type lora \
    --template_type AUTO \
    --dtype AUTO \
    --dataset alpaca-zh,alpaca-en \
    --custom_train_dataset_path extra.jsonl \
    --self_cognition_sample 100 \
    --lora_target_modules ALL \
    --quantization_bit 4 \
    --batch_size 2 \
    --use_flash_attn true \
    --do_sample false \
    --deepspeed default-zero2 \
    --check_dataset_strategy warning \
    --test_oom_error true
