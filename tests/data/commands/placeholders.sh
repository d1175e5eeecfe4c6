CUDA_VISIBLE_DEVICES=0 \
swift infer \
    --adapters out/<version>/checkpoint-<n> \
    --infer_backend pt \
    --val_dataset <your data> \
    --max_batch_size 1
