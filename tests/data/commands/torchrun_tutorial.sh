export MASTER_ADDR="10.0.0.1"
export MASTER_PORT="29511"
export NPROC_PER_NODE=2
torchrun \
  --nproc_per_node=2 \
  --master_addr="10.0.0.1" \
  --master_port="29511" \
  -m swift.cli.train \
  --model Qwen/Qwen3-4B \
  --dataset /data/prefs/my_dpo_rows.jsonl \
  --train_type lora \
  --target_modules q_proj,v_proj \
  --output_dir /data/out/qwen3-dpo \
  --deepspeed zero2 \
  --use_fast_tokenizer true \
  --quant_method qlora \
  --quant_bits 4 \
  --quant_lora_ckpt_path /data/adapters
