docker run -it \ --name tune \ --network=host \ -v /data:/data \ --gpus '"device=0,1"' \ --shm-size 8G \ registry/swift:4 \ /bin/bash
