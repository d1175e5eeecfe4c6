pip install ms-swift -U
swift rollout --model Qwen/Qwen3-4B --vllm_tensor_parallel_size 2 &
CUDA_VISIBLE_DEVICES=0,1 NPROC_PER_NODE=2 swift rlhf --rlhf_type grpo --model Qwen/Qwen3-4B --dataset me/questions \
  --reward_funcs accuracy --use_vllm true --vllm_mode server
swift export --adapters out/checkpoint-9 --merge_lora true
swift eval --model out/merged --eval_dataset gsm8k
