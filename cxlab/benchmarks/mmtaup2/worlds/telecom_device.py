"""A phone and where it is: how it finds a network, when mobile data and picture messages work, and how fast.

The rules and the values of the states are tau2-bench's, so that its tasks behave here as they do there.
"""

from collections.abc import Mapping
from typing import Any

from cxlab.benchmarks.mmtaup2.worlds.database import Row, copy_json

PREFERENCES = ("4g_5g_preferred", "4g_only", "3g_only", "2g_only")
# The network a preference leads to, best first; the second is taken where the first has no signal
_LOOKS_FOR = {"4g_5g_preferred": ("5G", "4G"), "4g_only": ("4G",), "3g_only": ("3G",), "2g_only": ("2G",)}
_MBPS = {"2G": (0.1, 0.4), "3G": (1.0, 5.0), "4G": (10.0, 100.0), "5G": (50.0, 500.0)}
_REACHED = {"poor": 0.2, "fair": 0.5, "good": 0.8, "excellent": 1.0}
_SLOW_VPN = 0.1
_DATA_SAVER = 0.2
# Below so many Mbps a speed test says so
_WORDS = ((1.0, "very poor"), (5.0, "poor"), (25.0, "fair"), (100.0, "good"))

APN: Row = {
    "apn_name": "internet",
    "reset_at_reboot": False,
    "mms_apn": "mms",
    "mmsc_url": "http://mms.carrier.com/mms/wapenc",
    "mms_proxy": None,
    "mms_port": None,
}
DEVICE: Row = {
    "sim_card_status": "active",
    "sim_card_missing": False,
    "airplane_mode": False,
    "network_signal_strength": "excellent",
    "network_technology_connected": "5G",
    "network_connection_status": "connected",
    "battery_level": 80,
    "data_enabled": True,
    "roaming_enabled": False,
    "network_mode_preference": "4g_5g_preferred",
    "active_apn_settings": APN,
    "wifi_enabled": False,
    "wifi_connected": False,
    "wifi_ssid": None,
    "wifi_signal_strength": "none",
    "wifi_calling_enabled": False,
    "wifi_calling_mms_over_wifi": False,
    "data_saver_mode": False,
    "vpn_enabled_setting": False,
    "vpn_connected": False,
    "vpn_details": None,
    "app_statuses": {
        "messaging": {
            "app_name": "messaging",
            "permissions": {"sms": True, "storage": True, "phone": True, "network": False},
        },
        "browser": {
            "app_name": "browser",
            "permissions": {"sms": False, "storage": True, "phone": False, "network": True},
        },
    },
}
SURROUNDINGS: Row = {
    "name": None,
    "phone_number": None,
    "is_abroad": False,
    "roaming_allowed": False,
    "signal_strength": {"2G": "poor", "3G": "fair", "4G": "good", "5G": "excellent"},
    "mobile_data_usage_exceeded": False,
    "line_active": True,
    "payment_request": None,
}


def filled(defaults: Row, given: Mapping[str, Any]) -> Row:
    """The defaults with what is given laid over them, objects within objects too."""
    row = copy_json(defaults)
    for name, value in given.items():
        nested = isinstance(value, Mapping) and isinstance(row.get(name), dict)
        row[name] = filled(row[name], value) if nested else copy_json(value)
    return row


def sim_status(device: Row) -> str:
    return "missing" if device["sim_card_missing"] else str(device["sim_card_status"])


def search_network(device: Row, around: Row) -> None:
    """Let the phone look for a network. Nothing but this sees that a line was suspended or resumed."""
    reachable = (
        sim_status(device) == "active"
        and not device["airplane_mode"]
        and device["active_apn_settings"]["apn_name"] != "broken"
        and around["line_active"]
    )
    if not reachable:
        device["network_connection_status"] = "no_service"
        device["network_technology_connected"] = "none"
        device["network_signal_strength"] = "none"
        return
    signals = around["signal_strength"]
    wanted = _LOOKS_FOR.get(device["network_mode_preference"], ("4G",))
    found = next((each for each in wanted if signals.get(each, "none") != "none"), wanted[-1])
    device["network_connection_status"] = "connected"
    device["network_technology_connected"] = found
    device["network_signal_strength"] = signals.get(found, "none")


def data_works(device: Row, around: Row) -> bool:
    """Whether mobile data gets through at all."""
    here = not around["is_abroad"] or (device["roaming_enabled"] and around["roaming_allowed"])
    return bool(
        not device["airplane_mode"]
        and device["network_signal_strength"] != "none"
        and device["network_connection_status"] != "no_service"
        and device["data_enabled"]
        and not around["mobile_data_usage_exceeded"]
        and here
    )


def speed(device: Row, around: Row) -> tuple[float, str] | None:
    """(Mbps, word) of a speed test over mobile data; None where there is no connection.

    The middle of what the network can do, times how well it is received, a tenth of it through a slow VPN and a
    fifth of it with data saver on.
    """
    if not data_works(device, around):
        return None
    low, high = _MBPS.get(device["network_technology_connected"], (0.0, 0.0))
    mbps = (low + high) / 2 * _REACHED.get(device["network_signal_strength"], 0.0)
    details = device["vpn_details"]
    if device["vpn_connected"] and details and details["server_performance"] == "poor":
        mbps *= _SLOW_VPN
    if device["data_saver_mode"]:
        mbps *= _DATA_SAVER
    mbps = round(mbps, 2)
    return mbps, next((word for bound, word in _WORDS if mbps < bound), "excellent")


def mms_works(device: Row, around: Row) -> bool:
    """Whether the messaging app can send pictures. Wi-Fi calling that carries MMS stops it: the network does not."""
    app = device["app_statuses"].get("messaging")
    return bool(
        data_works(device, around)
        and device["network_technology_connected"] != "2G"
        and not (device["wifi_calling_enabled"] and device["wifi_calling_mms_over_wifi"])
        and device["active_apn_settings"]["mmsc_url"] is not None
        and app is not None
        and app["permissions"]["storage"]
        and app["permissions"]["sms"]
    )


def status_bar(device: Row) -> Row:
    """What the top of the screen shows, in the names and values of the device's fields."""
    bar: Row = {"airplane_mode": device["airplane_mode"], "battery_level": device["battery_level"]}
    if not device["airplane_mode"]:
        connected = device["network_technology_connected"] != "none"
        bar["network_signal_strength"] = device["network_signal_strength"]
        bar["network_technology_connected"] = device["network_technology_connected"]
        bar["data_enabled"] = bool(device["data_enabled"] and connected)
        if bar["data_enabled"]:
            bar["data_saver_mode"] = device["data_saver_mode"]
    if device["wifi_enabled"] and device["wifi_connected"]:
        bar["wifi_ssid"] = device["wifi_ssid"]
    bar["vpn_connected"] = device["vpn_connected"]
    return bar
