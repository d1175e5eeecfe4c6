import os

os.environ["CUDA_VISIBLE_DEVICES"] = "0"
from swift.llm import TrainArguments, sft_main

rate = 1e-4 * 2
common = dict(torch_dtype="bfloat16", packing=True)
result = sft_main(
    TrainArguments(
        model="Qwen/Qwen3-4B",
        train_type="lora",
        dataset=["me/rows#500", "swift/self-cognition#500"],
        learning_rate=rate,
        system=f"You are {'Ann'}.",
        gradient_checkpointing_kwargs={"use_reentrant": False},
        num_train_epochs=int(input()),
        **common,
    )
)
print(result)
