"""``python one_button.py PORT``: the smallest Gradio app with a button, what TuneDesk is measured against."""

from __future__ import annotations

import sys

import gradio as gr

with gr.Blocks() as app:
    text = gr.Textbox(label="Text")
    gr.Button("Press").click(str.upper, text, text)

if __name__ == "__main__":
    app.launch(server_name="127.0.0.1", server_port=int(sys.argv[1]), quiet=True)
