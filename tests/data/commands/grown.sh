#!/usr/bin/env bash
set -euo pipefail
MODEL="${MODEL:-Qwen/Qwen3-8B}"
KIND="${KIND:-lora}"
SWIFT=swift
MORE=()
if [[ "$KIND" == "qlora" ]]; then
  MORE+=(--quant_method bnb --quant_bits 4)
  KIND=lora
else
  MORE+=(--lora_dropout 0.1)
fi
case "$MODEL" in
  *8B*) LR=1e-4 ;;
  *) LR=1e-5 ;;
esac
ARGS="--save_total_limit 2"
ARGS="$ARGS --logging_steps 5"
CMD=(
  $SWIFT sft
  --model "$MODEL"
  --train_type "$KIND"  # what is trained
  --learning_rate $LR
  --dataset "data ${MODEL##*/}.jsonl"
  "${MORE[@]}"
)
run() { CUDA_VISIBLE_DEVICES=$1 "${CMD[@]}" $ARGS; }
mkdir -p out
run 0
