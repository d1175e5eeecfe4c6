PYTORCH_CUDA_ALLOC_CONF='expandable_segments:True' \
NPROC_PER_NODE=4 \
CUDA_VISIBLE_DEVICES=0,1,2,3 \
megatron sft \
    --load Qwen3-mcore \
    --dataset 'me/rows#2000' \
    --train_type lora \
    --tensor_model_parallel_size 2 \
    --micro_batch_size 4 \
    --max_epochs 2 \
    --lr 1e-4 \
    --save out/mcore \
    --save_interval 100 \
    --num_workers 4 \
    --no_rope_fusion true \
    --distributed_timeout_minutes 5 \
    --hidden_size 4096
