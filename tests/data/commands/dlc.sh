dlc submit pytorchjob --name=job --workers=2 --worker_gpu=8 --worker_image=registry/swift:4 --workspace_id=77 \
  --command "cd /mnt/data && NNODES=\$WORLD_SIZE NODE_RANK=\$RANK NPROC_PER_NODE=8 swift sft --model Qwen/Qwen3-4B --dataset '/mnt/data/a.jsonl' --deepspeed zero3"
