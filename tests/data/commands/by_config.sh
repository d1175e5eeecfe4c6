HERE="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
NPROC_PER_NODE=2 swift sft --config "$HERE/settings.yaml" --num_train_epochs 2 2>&1 | tee log.txt
