"""Words of the room `targets`: where a run runs, its nodes, and how they talk. Key -> (English, Chinese)."""

WORDS: dict[str, tuple[str, str]] = {
    "target": ("Where it runs", "在哪里运行"),
    "here": ("This machine", "本机"),
    "ssh": ("Several machines over SSH", "多台机器（SSH）"),
    "slurm": ("Slurm cluster", "Slurm 集群"),
    "accelerate": ("Script for accelerate (written, not run here)", "accelerate 脚本（只生成，不在此运行）"),
    "dlc": ("Script for PAI DLC (written, not run here)", "PAI DLC 脚本（只生成，不在此运行）"),
    "kubernetes": ("Kubernetes PyTorchJob (written, not run here)", "Kubernetes PyTorchJob（只生成，不在此运行）"),
    "ray": ("Script for ray job (written, not run here)", "ray job 脚本（只生成，不在此运行）"),
    "nodes": ("Machines", "机器"),
    "nodes.help": (
        "One a line, the first holds rank 0: user@host[:port] [slots=8] [interface=eth0] [name=B]; or the path of a "
        "hostfile. TuneDesk is installed on each at the same path, and SSH logs in without a password.",
        "每行一台，第一台为 rank 0：user@host[:port] [slots=8] [interface=eth0] [name=B]；也可填 hostfile 的路径。"
        "每台机器在相同路径下安装了 TuneDesk，并可通过 SSH 免密登录。",
    ),
    "node_timeout_s": ("Node timeout (s)", "节点超时（秒）"),
    "node_timeout_s.help": (
        "A machine that has shown no sign of life for so long is lost: by then the run has ended on all of them",
        "机器失联达到这个时长即视为丢失：届时所有机器上的运行都已结束",
    ),
    "max_restarts": ("Restarts after a failure", "失败后自动重启次数"),
    "max_restarts.help": (
        "So often a run that failed goes on by itself from its last whole checkpoint, as a new attempt",
        "运行失败后，最多自动从最后一个完整检查点继续这么多次，每次记为一次新的尝试",
    ),
    "check": ("Check the machines", "检查这些机器"),
    "slurm.partition": ("Partition", "分区"),
    "slurm.account": ("Account", "账户"),
    "slurm.qos": ("Quality of service (QOS)", "服务质量（QOS）"),
    "slurm.nodes": ("Machines", "机器数"),
    "slurm.gpus": ("Cards on each", "每台的卡数"),
    "slurm.time": ("Time limit", "时间上限"),
    "slurm.memory": ("Memory on each", "每台内存"),
    "slurm.cpus_per_task": ("CPUs on each", "每台 CPU 数"),
    "slurm.options": ("Further sbatch options", "更多 sbatch 选项"),
    "no_nodes": ("The spec names no machines: it runs here.", "配置中没有列出机器：它在本机运行。"),
    "node_fit": (
        "{node}: ready (cards: {cards}; cores: {cores}; ms-swift {swift})",
        "{node}：就绪（卡：{cards}；核：{cores}；ms-swift {swift}）",
    ),
    "node_unfit": ("{node}: {problems}", "{node}：{problems}"),
    "and": ("{first} {rest}", "{first}{rest}"),
    "below": ("{first}\n{rest}", "{first}\n{rest}"),
    "problem.login": (
        "SSH does not let us in without a password ({why}). Put your public key there with ssh-copy-id.",
        "SSH 无法免密登录（{why}）。请用 ssh-copy-id 把公钥放到那台机器上。",
    ),
    "problem.host_key": (
        "its host key is not known or has changed ({why}). Log in once with ssh and check the key.",
        "主机密钥未知或已改变（{why}）。请先用 ssh 登录一次并核对密钥。",
    ),
    "problem.name": (
        "there is no host of this name ({why}). Correct the name or use its address.",
        "没有这个名称的主机（{why}）。请更正名称或改用地址。",
    ),
    "problem.unreachable": (
        "it does not answer ({why}). Check that it is on and that the network reaches it.",
        "没有应答（{why}）。请确认它已开机且网络可达。",
    ),
    "problem.refused": (
        "no SSH server answers there ({why}). Start sshd, or correct the port.",
        "那里没有 SSH 服务应答（{why}）。请启动 sshd，或更正端口。",
    ),
    "problem.not_installed": (
        "TuneDesk is not installed for the interpreter used there ({why}). Run make install at the same path, or name "
        "the interpreter with python=….",
        "所用解释器中没有安装 TuneDesk（{why}）。请在相同路径运行 make install，或用 python=… 指定解释器。",
    ),
    "problem.no_python": (
        "there is no such interpreter there ({why}). Install TuneDesk at the same path as here, or name its "
        "interpreter with python=….",
        "那里没有这个解释器（{why}）。请在与本机相同的路径安装 TuneDesk，或用 python=… 指定解释器。",
    ),
    "problem.no_answer": (
        "TuneDesk there gave no answer ({why}). Try the same over ssh by hand.",
        "那里的 TuneDesk 没有应答（{why}）。请手动用 ssh 试一次。",
    ),
    "problem.version": (
        "{package} is {there} there and {here} here. Install the same version on all machines.",
        "{package} 那里是 {there}，本机是 {here}。请在所有机器上安装相同版本。",
    ),
    "problem.missing": (
        "it has no {paths}. Copy it there, to the same path, or use a folder that all machines share.",
        "那里没有 {paths}。请复制到相同路径，或使用所有机器共享的文件夹。",
    ),
    "problem.not_shared": (
        "it does not see {folder} of this machine, where checkpoints and figures are read. Let this machine be the "
        "first node, or share that folder.",
        "它看不到本机的 {folder}，而检查点和指标要从那里读取。请让本机作为第一个节点，或共享该文件夹。",
    ),
    "problem.port": (
        "port {port} is taken there. Leave master_port out, or name a free one.",
        "那里的端口 {port} 已被占用。请不要填写 master_port，或换一个空闲端口。",
    ),
    "problem.clock": (
        "its clock differs from ours by {seconds} s. Set it by NTP.",
        "它的时钟与本机相差 {seconds} 秒。请用 NTP 校时。",
    ),
    "problem.cards": (
        "it has {there} cards and {wanted} are wanted. Lower slots or gpus.",
        "那里有 {there} 张卡，需要 {wanted} 张。请减小 slots 或 gpus。",
    ),
    "network.interface": ("Network interface", "网络接口"),
    "network.interface.help": (
        "The device the ranks talk over, as eth0 (NCCL_SOCKET_IFNAME, GLOO_SOCKET_IFNAME). Empty: the one SSH came in on",
        "各进程通信所用的网卡，例如 eth0（NCCL_SOCKET_IFNAME、GLOO_SOCKET_IFNAME）。留空：SSH 连接所用的网卡",
    ),
    "network.infiniband": ("InfiniBand / RoCE", "使用 InfiniBand / RoCE"),
    "network.infiniband.help": (
        "Off makes NCCL use plain sockets (NCCL_IB_DISABLE=1): slower, but it works where InfiniBand is set up wrongly",
        "关闭后 NCCL 改用普通套接字（NCCL_IB_DISABLE=1）：较慢，但在 InfiniBand 配置有误时也能用",
    ),
    "network.infiniband_adapters": ("InfiniBand adapters", "InfiniBand 网卡"),
    "network.infiniband_adapters.help": (
        "Which ones NCCL may use, as mlx5_0,mlx5_1 (NCCL_IB_HCA)",
        "NCCL 可以使用的网卡，例如 mlx5_0,mlx5_1（NCCL_IB_HCA）",
    ),
    "network.infiniband_gid_index": ("RoCE GID index", "RoCE GID 索引"),
    "network.infiniband_gid_index.help": (
        "Needed on some RoCE networks, often 3 (NCCL_IB_GID_INDEX)",
        "部分 RoCE 网络需要，常为 3（NCCL_IB_GID_INDEX）",
    ),
    "network.p2p": ("Direct transfer between cards", "卡间直接传输"),
    "network.p2p.help": (
        "Off sends all through host memory (NCCL_P2P_DISABLE=1); try it when a run hangs at its first step",
        "关闭后全部经主机内存传输（NCCL_P2P_DISABLE=1）；运行在第一步卡住时可以一试",
    ),
    "network.shared_memory": ("Shared memory between ranks", "进程间共享内存"),
    "network.shared_memory.help": (
        "Off where a container has too little /dev/shm (NCCL_SHM_DISABLE=1)",
        "容器的 /dev/shm 太小时请关闭（NCCL_SHM_DISABLE=1）",
    ),
    "network.nvlink_sharp": ("NVLink SHARP", "NVLink SHARP 归约"),
    "network.nvlink_sharp.help": (
        "Sums inside the NVLink switch of Hopper and later (NCCL_NVLS_ENABLE); off when NCCL reports NVLS errors",
        "在 Hopper 及更新的 NVLink 交换机内求和（NCCL_NVLS_ENABLE）；NCCL 报 NVLS 错误时请关闭",
    ),
    "network.timeout_s": ("Timeout of an exchange (s)", "通信超时（秒）"),
    "network.timeout_s.help": (
        "How long a rank waits for the others before it gives up (ddp_timeout, TORCH_NCCL_HEARTBEAT_TIMEOUT_SEC); "
        "longer than the slowest data preparation",
        "进程等待其他进程的最长时间（ddp_timeout、TORCH_NCCL_HEARTBEAT_TIMEOUT_SEC）；应长于最慢的数据准备",
    ),
    "network.debug": ("What NCCL reports", "NCCL 日志级别"),
    "network.debug.help": (
        "INFO names the network and the adapters it chose (NCCL_DEBUG)",
        "INFO 会写出所选的网络和网卡（NCCL_DEBUG）",
    ),
}
