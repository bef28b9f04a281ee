"""The customer's side of telecom: thirty things to do with a phone, and what tasks do to one beforehand."""

import copy
from collections.abc import Callable

from cxlab.benchmarks.mmtaup2.worlds.base import ToolRefusal, World
from cxlab.benchmarks.mmtaup2.worlds.database import Row
from cxlab.benchmarks.mmtaup2.worlds.telecom_device import (
    APN,
    PREFERENCES,
    data_works,
    filled,
    mms_works,
    search_network,
    sim_status,
    speed,
    status_bar,
)
from cxlab.benchmarks.mmtaup2.worlds.tools import Json, assertion, fields, setup, text, tool

_OR_NULL = {"type": ["string", "null"]}
_APN_FIELDS: dict[str, dict[str, Json]] = {
    "apn_name": text("Name of the access point.", "internet", "broken"),
    "reset_at_reboot": {"type": "boolean", "description": "Whether they go back to the standard at the next restart."},
    "mms_apn": {**_OR_NULL, "description": "Access point for picture messages."},
    "mmsc_url": {**_OR_NULL, "description": "Address for picture messages (MMSC)."},
    "mms_proxy": {**_OR_NULL, "description": "Proxy for picture messages."},
    "mms_port": {"type": ["integer", "null"], "description": "Port for picture messages."},
}
_OWN_VPN = {"server_address": "192.168.1.1", "protocol": "OpenVPN", "server_performance": "excellent"}
_APP = text("The app as the list of installed apps names it, for example messaging.")


class Phone(World):
    """Tools, first states and assertions on the phone. A tool that changes something also gives the status bar."""

    @property
    def device(self) -> Row:
        """The phone's fields, to read."""
        return self.customer.get("phone", "device") or {}

    @property
    def around(self) -> Row:
        """Where the phone is and what its line allows, to read."""
        return self.customer.get("phone", "surroundings") or {}

    def _edit(self) -> Row:
        return self.customer.edit("phone", "device")

    def _search(self) -> None:
        search_network(self._edit(), self.around)

    def _switch(self, field: str, *, search: bool) -> Json:
        device = self._edit()
        device[field] = not device[field]
        if search:
            self._search()
        return self._shown(field)

    def _shown(self, *names: str) -> Json:
        return {**{name: self.device[name] for name in names}, "status_bar": status_bar(self.device)}

    # Looking

    @tool(
        "customer", "Look at the top of the screen: airplane mode, signal, network, mobile data, Wi-Fi, VPN, battery."
    )
    def check_status_bar(self) -> Json:
        return status_bar(self.device)

    @tool("customer", "Open the network page: airplane mode, SIM, connection, signal, network type, data and roaming.")
    def check_network_status(self) -> Json:
        device = self.device
        names = ("network_connection_status", "network_signal_strength", "network_technology_connected")
        more = ("data_enabled", "roaming_enabled", "wifi_enabled", "wifi_connected", "wifi_ssid")
        status = {"airplane_mode": device["airplane_mode"], "sim_card_status": sim_status(device)}
        return status | {name: device[name] for name in names + more}

    @tool("customer", "See which kinds of network the phone may use.")
    def check_network_mode_preference(self) -> Json:
        return {"network_mode_preference": self.device["network_mode_preference"]}

    @tool("customer", "Measure the download speed over mobile data.")
    def run_speed_test(self) -> Json:
        found = speed(self.device, self.around)
        if found is None:
            return {"connection": False, "speed_mbps": None, "description": "no connection"}
        return {"connection": True, "speed_mbps": found[0], "description": found[1]}

    @tool("customer", "See whether the SIM card is active, missing, or locked by a PIN or PUK.")
    def check_sim_status(self) -> Json:
        return {"sim_card_status": sim_status(self.device)}

    @tool("customer", "See whether the data saver is on.")
    def check_data_restriction_status(self) -> Json:
        return {"data_saver_mode": self.device["data_saver_mode"]}

    @tool("customer", "See the access point (APN) the phone uses and the address for picture messages (MMSC).")
    def check_apn_settings(self) -> Json:
        settings = self.device["active_apn_settings"]
        return {"apn_name": settings["apn_name"], "mmsc_url": settings["mmsc_url"]}

    @tool("customer", "See whether Wi-Fi is on and which network the phone is joined to.")
    def check_wifi_status(self) -> Json:
        names = ("wifi_enabled", "wifi_connected", "wifi_ssid", "wifi_signal_strength")
        return {name: self.device[name] for name in names}

    @tool("customer", "See whether calls may go over Wi-Fi.")
    def check_wifi_calling_status(self) -> Json:
        return {"wifi_calling_enabled": self.device["wifi_calling_enabled"]}

    @tool("customer", "See whether a VPN is connected, and how well its server performs.")
    def check_vpn_status(self) -> Json:
        device = self.device
        details = device["vpn_details"] if device["vpn_connected"] else None
        return {"vpn_connected": device["vpn_connected"], "vpn_details": details}

    @tool("customer", "List the apps on the phone.")
    def check_installed_apps(self) -> Json:
        return {"apps": list(self.device["app_statuses"])}

    @tool("customer", "See the details of one app.", {"app_name": _APP})
    def check_app_status(self, app_name: str) -> Json:
        return {"app_name": app_name, "permissions": self._app(app_name)["permissions"]}

    @tool("customer", "See what one app is allowed to do.", {"app_name": _APP})
    def check_app_permissions(self, app_name: str) -> Json:
        allowed = self._app(app_name)["permissions"]
        return {"app_name": app_name, "granted": [name for name, granted in allowed.items() if granted]}

    @tool("customer", "Try whether the messaging app can send a picture message.")
    def can_send_mms(self) -> Json:
        return {"can_send_mms": mms_works(self.device, self.around)}

    @tool("customer", "See whether the company has asked for a payment, for which bill and how much.")
    def check_payment_request(self) -> Json:
        return {"payment_request": self.around["payment_request"]}

    def _app(self, app_name: str) -> Row:
        apps = self.device["app_statuses"]
        if app_name not in apps:
            raise ToolRefusal(f"There is no app named {app_name[:40]!r}; installed: {', '.join(apps)}.")
        app: Row = apps[app_name]
        return app

    # Doing

    @tool(
        "customer",
        "Choose which kinds of network the phone may use.",
        {"mode": text("4g_5g_preferred is the fastest.", *PREFERENCES)},
        write=True,
    )
    def set_network_mode_preference(self, mode: str) -> Json:
        self._edit()["network_mode_preference"] = mode
        self._search()
        return self._shown("network_mode_preference")

    @tool("customer", "Switch airplane mode on or off, whichever it is not.", write=True)
    def toggle_airplane_mode(self) -> Json:
        device = self._edit()
        device["airplane_mode"] = not device["airplane_mode"]
        if device["airplane_mode"]:
            device.update(vpn_connected=False, vpn_details=None)
        if device["airplane_mode"] or device["wifi_enabled"]:
            self._leave_wifi()
        self._search()
        return self._shown("airplane_mode")

    def _leave_wifi(self) -> None:
        self._edit().update(wifi_connected=False, wifi_ssid=None, wifi_signal_strength="none")

    @tool("customer", "Take the SIM card out and put it back in properly.", write=True)
    def reseat_sim_card(self) -> Json:
        self._edit()["sim_card_missing"] = False
        self._search()
        return {"sim_card_status": sim_status(self.device), "status_bar": status_bar(self.device)}

    @tool("customer", "Switch mobile data on or off, whichever it is not.", write=True)
    def toggle_data(self) -> Json:
        return self._switch("data_enabled", search=True)

    @tool("customer", "Switch data roaming on the phone on or off, whichever it is not.", write=True)
    def toggle_roaming(self) -> Json:
        return self._switch("roaming_enabled", search=True)

    @tool("customer", "Switch the data saver on or off, whichever it is not.", write=True)
    def toggle_data_saver_mode(self) -> Json:
        return self._switch("data_saver_mode", search=False)

    @tool(
        "customer",
        "Enter access point (APN) settings by hand; what is left out goes back to the standard.",
        {"apn_settings": fields("The settings.", **_APN_FIELDS)},
        write=True,
    )
    def set_apn_settings(self, apn_settings: dict[str, Json]) -> Json:
        self._edit()["active_apn_settings"] = filled(APN, apn_settings)
        self._search()
        return self._shown("active_apn_settings")

    @tool("customer", "Have the access point (APN) settings go back to the standard; it takes a restart.", write=True)
    def reset_apn_settings(self) -> Json:
        self._edit()["active_apn_settings"]["reset_at_reboot"] = True
        self._search()
        return {"reset_at_reboot": True, "status_bar": status_bar(self.device)}

    @tool("customer", "Switch Wi-Fi on or off, whichever it is not.", write=True)
    def toggle_wifi(self) -> Json:
        if self.device["airplane_mode"]:
            raise ToolRefusal("Wi-Fi cannot be switched while airplane mode is on.")
        self._switch("wifi_enabled", search=False)
        if not self.device["wifi_enabled"]:
            self._leave_wifi()
        return self._shown("wifi_enabled")

    @tool("customer", "Switch calling over Wi-Fi on or off, whichever it is not.", write=True)
    def toggle_wifi_calling(self) -> Json:
        return self._switch("wifi_calling_enabled", search=False)

    @tool("customer", "Connect to the VPN that is set up on the phone.", write=True)
    def connect_vpn(self) -> Json:
        if self.device["vpn_connected"]:
            return {"note": "The VPN was connected already; nothing has changed.", **self._shown("vpn_connected")}
        self._edit().update(vpn_connected=True, vpn_details=dict(_OWN_VPN))
        return self._shown("vpn_connected")

    @tool("customer", "Disconnect the VPN.", write=True)
    def disconnect_vpn(self) -> Json:
        if not self.device["vpn_connected"]:
            return {"note": "No VPN was connected; nothing has changed.", **self._shown("vpn_connected")}
        self._edit().update(vpn_connected=False, vpn_details=None)
        return self._shown("vpn_connected")

    @tool(
        "customer",
        "Allow an app to do something.",
        {"app_name": _APP, "permission": text("What to allow.", "sms", "storage", "phone", "network")},
        write=True,
    )
    def grant_app_permission(self, app_name: str, permission: str) -> Json:
        self._permit(app_name, permission, True)
        return {**self.check_app_permissions(app_name), "status_bar": status_bar(self.device)}

    def _permit(self, app_name: str, permission: str, allowed: bool) -> None:
        known = self._app(app_name)["permissions"]
        permission = permission.lower()
        if permission not in known:
            raise ToolRefusal(f"{app_name} has no permission {permission[:40]!r}; there are: {', '.join(known)}.")
        self._edit()["app_statuses"][app_name]["permissions"][permission] = allowed

    @tool("customer", "Switch the phone off and on again.", write=True)
    def reboot_device(self) -> Json:
        device = self._edit()
        if device["active_apn_settings"]["reset_at_reboot"]:
            device["active_apn_settings"] = copy.deepcopy(APN)
        self._search()
        return {"rebooted": True, "status_bar": status_bar(self.device)}

    @tool("customer", "Pay the bill for which the company has requested payment.", write=True, irreversible=True)
    def make_payment(self) -> Json:
        if self.around["payment_request"] is None:
            return {"note": "Nobody has asked for a payment; nothing was paid."}
        request = self.customer.edit("phone", "surroundings")["payment_request"]
        request["paid"] = True  # the company's records follow when both sides are brought in step
        return {"paid_bill_id": request["bill_id"], "amount_usd": request["amount_due"]}

    # What tasks do to a phone

    @setup("customer")
    def set_user_info(self, name: str, phone_number: str) -> None:
        self.customer.edit("phone", "surroundings").update(name=name, phone_number=phone_number)

    @setup("customer")
    def set_user_location(self, abroad: bool) -> None:
        self.customer.edit("phone", "surroundings")["is_abroad"] = abroad

    @setup("customer")
    def simulate_network_search(self) -> None:
        self._search()

    @setup("customer")
    def turn_airplane_mode_on(self) -> None:
        self._bring("airplane_mode", True, self.toggle_airplane_mode)

    @setup("customer")
    def turn_airplane_mode_off(self) -> None:
        self._bring("airplane_mode", False, self.toggle_airplane_mode)

    @setup("customer")
    def turn_data_on(self) -> None:
        self._edit()["data_enabled"] = True  # without a search, as in tau2-bench

    @setup("customer")
    def turn_data_off(self) -> None:
        self._bring("data_enabled", False, self.toggle_data)

    @setup("customer")
    def turn_roaming_on(self) -> None:
        self._bring("roaming_enabled", True, self.toggle_roaming)

    @setup("customer")
    def turn_roaming_off(self) -> None:
        self._bring("roaming_enabled", False, self.toggle_roaming)

    @setup("customer")
    def turn_data_saver_mode_on(self) -> None:
        self._edit()["data_saver_mode"] = True

    @setup("customer")
    def turn_data_saver_mode_off(self) -> None:
        self._edit()["data_saver_mode"] = False

    @setup("customer")
    def unseat_sim_card(self) -> None:
        self._edit()["sim_card_missing"] = True
        self._search()

    @setup("customer")
    def lock_sim_card(self, mode: str) -> None:
        if mode not in ("pin", "puk"):
            raise ToolRefusal(f"a SIM card is locked by pin or puk, not by {mode!r}")
        self._edit()["sim_card_status"] = f"locked_{mode}"
        self._search()

    @setup("customer")
    def break_apn_settings(self) -> None:
        self._edit()["active_apn_settings"]["apn_name"] = "broken"
        self._search()

    @setup("customer")
    def break_apn_mms_setting(self) -> None:
        self._edit()["active_apn_settings"]["mmsc_url"] = None

    @setup("customer")
    def set_wifi_calling(self, enabled: bool, mms_over_wifi: bool | None = None) -> None:
        self._edit()["wifi_calling_enabled"] = enabled
        if mms_over_wifi is not None:
            self._edit()["wifi_calling_mms_over_wifi"] = mms_over_wifi

    @setup("customer")
    def break_vpn(self) -> None:
        details = {**_OWN_VPN, "server_performance": "poor"}
        self._edit().update(vpn_connected=True, vpn_details=details)

    @setup("customer")
    def remove_app_permission(self, app_name: str, permission: str) -> None:
        self._permit(app_name, permission, False)

    def _bring(self, field: str, wanted: bool, toggle: Callable[[], Json]) -> None:
        """Toggle once, or twice when it is there already: either way the phone looks for a network."""
        toggle()
        if self.device[field] is not wanted:
            toggle()

    # What tasks hold the phone to

    @assertion("customer")
    def assert_airplane_mode_status(self, expected_status: bool) -> bool:
        return bool(self.device["airplane_mode"] == expected_status)

    @assertion("customer")
    def assert_service_status(self, expected_status: str) -> bool:
        return bool(self.device["network_connection_status"] == expected_status)

    @assertion("customer")
    def assert_mobile_data_status(self, expected_status: bool) -> bool:
        return data_works(self.device, self.around) == expected_status

    @assertion("customer")
    def assert_mobile_roaming_status(self, expected_status: bool) -> bool:
        return bool(self.device["roaming_enabled"] == expected_status)

    @assertion("customer")
    def assert_mobile_data_saver_mode_status(self, expected_status: bool) -> bool:
        return bool(self.device["data_saver_mode"] == expected_status)

    @assertion("customer")
    def assert_internet_speed(self, expected_speed: float, expected_desc: str | None = None) -> bool:
        mbps, word = speed(self.device, self.around) or (0.0, "no connection")
        return mbps >= expected_speed and (expected_desc is None or word == expected_desc.lower())

    @assertion("customer")
    def assert_internet_not_excellent(self) -> bool:
        found = speed(self.device, self.around)
        return found is None or found[1] != "excellent"

    @assertion("customer")
    def assert_can_send_mms(self, expected_status: bool) -> bool:
        return mms_works(self.device, self.around) == expected_status

    @assertion("customer")
    def assert_mobile_data_usage_exceeded(self, expected_status: bool) -> bool:
        return bool(self.around["mobile_data_usage_exceeded"] == expected_status)
