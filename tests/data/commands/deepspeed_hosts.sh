# --include="a:0"
deepspeed --include="worker-0:0,1@worker-1:2,3" --master_port 29600 ms-swift/swift/cli/sft.py \
    --model Qwen/Qwen3-4B --dataset me/rows#2 --train_type full --deepspeed zero3
