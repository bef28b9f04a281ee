"""What a phone shows after a tool was used: a screen in words, as a person reads it.

The structured value stays in the log. A field without words of its own is shown by its name,
never left out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

_ON = {True: "on", False: "off"}
_SIM = {
    "active": "in use",
    "missing": "no card found",
    "locked_pin": "locked, it asks for the PIN",
    "locked_puk": "locked, it asks for the PUK",
}
_PREFERRED = {
    "4g_5g_preferred": "5G and 4G, the fastest there is",
    "4g_only": "4G only",
    "3g_only": "3G only",
    "2g_only": "2G only",
}
_PERMISSIONS = {"sms": "SMS"}


def _switch(title: str) -> Callable[[Any], str]:
    return lambda value: f"{title}: {_ON.get(value, value)}"


def _plain(title: str) -> Callable[[Any], str]:
    return lambda value: f"{title}: {'none' if value in (None, '') else value}"


def _vpn(details: Any) -> str:
    if not details:
        return ""
    return (
        f"VPN server: {details['server_address']}, {details['protocol']}, performance {details['server_performance']}"
    )


def _payment(request: Any) -> str:
    if not request:
        return "No payment request has come in."
    state = "paid" if request.get("paid") else "not paid yet"
    return f"Payment request for bill {request['bill_id']}: ${float(request['amount_due']):.2f}, {state}"


def _allowed(permissions: Mapping[str, bool]) -> str:
    return "; ".join(
        f"{_PERMISSIONS.get(name, name)}: {'allowed' if granted else 'not allowed'}"
        for name, granted in permissions.items()
    )


_WORDS: dict[str, Callable[[Any], str]] = {
    "note": str,
    "airplane_mode": _switch("Airplane mode"),
    "battery_level": lambda value: f"Battery: {value} %",
    "network_signal_strength": _plain("Signal"),
    "network_technology_connected": _plain("Network"),
    "network_connection_status": lambda value: f"Connection: {str(value).replace('_', ' ')}",
    "network_mode_preference": lambda value: f"Preferred network: {_PREFERRED.get(value, value)}",
    "sim_card_status": lambda value: f"SIM card: {_SIM.get(value, value)}",
    "data_enabled": _switch("Mobile data"),
    "data_saver_mode": _switch("Data saver"),
    "roaming_enabled": _switch("Data roaming"),
    "wifi_enabled": _switch("Wi-Fi"),
    "wifi_connected": lambda value: "Joined to a Wi-Fi network" if value else "Not joined to any Wi-Fi network",
    "wifi_ssid": lambda value: f"Wi-Fi network: {value}" if value else "",
    "wifi_signal_strength": _plain("Wi-Fi signal"),
    "wifi_calling_enabled": _switch("Wi-Fi calling"),
    "vpn_connected": lambda value: f"VPN: {'connected' if value else 'not connected'}",
    "vpn_details": _vpn,
    "apn_name": _plain("Access point name (APN)"),
    "mmsc_url": lambda value: f"Address for picture messages (MMSC): {value or 'not set'}",
    "active_apn_settings": lambda value: "\n".join(_lines(value)),
    "mms_apn": _plain("Access point for picture messages"),
    "mms_proxy": _plain("Proxy for picture messages"),
    "mms_port": _plain("Port for picture messages"),
    "reset_at_reboot": lambda value: "The settings go back to the standard when the phone restarts." if value else "",
    "apps": lambda value: f"Installed apps: {', '.join(value)}",
    "app_name": lambda value: f"App: {value}",
    "permissions": _allowed,
    "granted": lambda value: f"Allowed: {', '.join(_PERMISSIONS.get(each, each) for each in value) or 'nothing'}",
    "can_send_mms": lambda value: f"The test picture message {'was sent' if value else 'could not be sent'}.",
    "payment_request": _payment,
    "rebooted": lambda value: "The phone has restarted." if value else "The phone has not restarted.",
    "status_bar": lambda value: "At the top of the screen: " + ", ".join(_lines(value)),
}


def show(value: Any) -> str:
    """A tool's value as the screen shows it, one thing a line."""
    if not isinstance(value, Mapping):
        return str(value)
    return "\n".join(_lines(value))


def _lines(value: Mapping[str, Any]) -> list[str]:
    left = dict(value)
    found = []
    if "speed_mbps" in left:
        mbps, word = left.pop("speed_mbps"), left.pop("description", "")
        connected = left.pop("connection", mbps is not None)
        found.append(f"Download speed: {mbps:g} Mbps, {word}" if connected else "The speed test found no connection.")
    if "paid_bill_id" in left:
        found.append(f"Paid: bill {left.pop('paid_bill_id')}, ${float(left.pop('amount_usd')):.2f}")
    for name, one in left.items():
        words = _WORDS.get(name)
        found.append(words(one) if words else _otherwise(name, one))
    return [line for line in found if line]


def _otherwise(name: str, value: Any) -> str:
    """A field without words of its own."""
    title = name.replace("_", " ").capitalize()
    if isinstance(value, Mapping):
        return f"{title}: {', '.join(_lines(value))}"
    return f"{title}: {_ON[value] if isinstance(value, bool) else value}"
