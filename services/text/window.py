"""Words of the room `window`: key -> (English, Chinese)."""

WORDS: dict[str, tuple[str, str]] = {
    "dataset": ("Dataset", "数据集"),
    "training": ("Training", "训练"),
    "export": ("Export", "导出"),
    "chat": ("Chat", "对话"),
    "machine": ("This machine", "这台机器"),
    "runs": ("Runs", "运行"),
    "cpu": ("CPU", "CPU"),
    "cpu_value": ("{percent} % of {cores} cores", "{cores} 核，{percent} %"),
    "memory": ("Memory", "内存"),
    "disk": ("Disk", "磁盘"),
    "disk_value": ("{free} free", "剩余 {free}"),
    "no_gpu": ("No GPU: training on the CPU", "没有 GPU：在 CPU 上训练"),
    "share": ("Public link", "公开链接"),
    "share_before": (
        "Gives this window a temporary address on the internet. First a password is set: from then on every "
        "session has to log in; this page stays logged in. Whoever has both can do here what you can.",
        "为此窗口提供一个临时的互联网地址。会先设置密码：之后每个会话都需要登录，当前页面保持登录状态。"
        "同时拥有链接和密码的人可以做您在这里能做的一切。",
    ),
    "share_start": ("Set a password and make the link", "设置密码并创建链接"),
    "share_done": (
        "{link}\nUser {user}, password {password} — shown only now, so note it down. This page stays logged in.",
        "{link}\n用户名 {user}，密码 {password}——只显示这一次，请记下。当前页面保持登录状态。",
    ),
    "share_failed": (
        "The public link could not be made: the tunnel program or its server was not reached. Check that this machine "
        "reaches the internet and try again. The local address goes on working, now behind a password: user {user}, "
        "password {password} — note it down, it is shown only now.",
        "无法创建公开链接：连不上隧道程序或它的服务器。请检查这台机器能否访问互联网后重试。"
        "本地地址仍可使用，但现在需要登录：用户名 {user}，密码 {password}——请记下，只显示这一次。",
    ),
    "port_moved": (
        "Port {wanted} is taken by another program, so TuneDesk uses {port}.",
        "端口 {wanted} 已被其他程序占用，TuneDesk 改用 {port}。",
    ),
    "open_already": (
        "TuneDesk is open already, at {address}. This is a second window over the same runs, on port {port}.",
        "TuneDesk 已经打开：{address}。这是第二个窗口，使用相同的运行，端口为 {port}。",
    ),
    "away": (
        "TuneDesk does not answer: it was ended, or the connection to it is lost. Runs go on; nothing can be pressed until "
        "it is back. To start it again: make run.",
        "TuneDesk 没有响应：它已退出，或与它的连接已断开。运行会继续；在它恢复之前无法操作。重新启动请执行：make run。",
    ),
    "password": (
        "This address can be reached from elsewhere, so every session has to log in: user {user}, password {password}",
        "此地址可从别处访问，因此每个会话都需要登录：用户名 {user}，密码 {password}",
    ),
    "open": ("TuneDesk is open at {address}", "TuneDesk 已打开：{address}"),
    "ssh": (
        "No display here. From your own computer: ssh -L {port}:127.0.0.1:{port} <this machine>, then open "
        "http://127.0.0.1:{port}",
        "这里没有显示器。请在您自己的电脑上执行：ssh -L {port}:127.0.0.1:{port} <这台机器>，然后打开 "
        "http://127.0.0.1:{port}",
    ),
    "shared": ("Public link: {link}", "公开链接：{link}"),
    "share_unreachable": (
        "The public link could not be made ({why}). Check that this machine reaches the internet; the local address "
        "goes on working.",
        "无法创建公开链接（{why}）。请检查这台机器能否访问互联网；本地地址仍可使用。",
    ),
    "unit.seconds": ("{seconds} s", "{seconds} 秒"),
    "unit.minutes": ("{minutes} min {seconds} s", "{minutes} 分 {seconds} 秒"),
    "unit.hours": ("{hours} h {minutes} min", "{hours} 小时 {minutes} 分"),
    "unit.days": ("{days} d {hours} h", "{days} 天 {hours} 小时"),
    "details": ("Details", "详情"),
    "chart.not_numbers": ("{n} not a number", "{n} 个非数值"),
}
