#!/bin/bash
#SBATCH --job-name=tune
#SBATCH --nodes=2
#SBATCH --partition=gpu
#SBATCH --gres=gpu:a100:4
#SBATCH --time=1-00:00:00
source activate swift
head=$(scontrol show hostnames $SLURM_JOB_NODELIST | head -n 1)
srun torchrun --nnodes=$SLURM_NNODES --nproc_per_node=4 --rdzv_backend=c10d --rdzv_endpoint=$head:29500 \
  swift/cli/pt.py --model Qwen/Qwen3-4B --dataset me/texts
