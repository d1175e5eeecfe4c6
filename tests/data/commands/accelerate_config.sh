CUDA_VISIBLE_DEVICES=0,1,2,3 \
accelerate launch --config_file "./accelerate.yaml" --main_process_port 29700 \
    swift/cli/sft.py \
    --model Qwen/Qwen3-4B --dataset me/rows --train_type lora
