"""Words of the room `window`: key -> (English, Chinese)."""

WORDS: dict[str, tuple[str, str]] = {
    "unit.seconds": ("{seconds} s", "{seconds} 秒"),
    "unit.minutes": ("{minutes} min {seconds} s", "{minutes} 分 {seconds} 秒"),
    "unit.hours": ("{hours} h {minutes} min", "{hours} 小时 {minutes} 分"),
    "unit.days": ("{days} d {hours} h", "{days} 天 {hours} 小时"),
    "chart.not_numbers": ("{n} not a number", "{n} 个非数值"),
}
