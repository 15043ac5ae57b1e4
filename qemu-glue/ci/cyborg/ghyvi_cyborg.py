# SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0
# Executed by hand with Cyborg's classes of July 2026, and in tests without them. Not in an OpenStack.
"""A driver for OpenStack Cyborg: the vGPUs of one type of each pGPU of ghyvi.

GHYVI_TYPE is the type, without the name of the pGPU's driver. Cyborg creates a vGPU when it binds
one to an instance, and removes it afterwards."""

import glob
import json
import os

from cyborg.accelerator.common import utils
from cyborg.accelerator.drivers.driver import GenericDriver
from cyborg.common import constants
from cyborg.conf import CONF
from cyborg.objects.driver_objects.driver_attach_handle import DriverAttachHandle
from cyborg.objects.driver_objects.driver_attribute import DriverAttribute
from cyborg.objects.driver_objects.driver_controlpath_id import DriverControlPathID
from cyborg.objects.driver_objects.driver_deployable import DriverDeployable
from cyborg.objects.driver_objects.driver_device import DriverDevice

PARENTS = "/sys/class/mdev_bus"
GHYVI_TYPE = os.environ.get("GHYVI_TYPE", "gen9_4")


def read(path):
    with open(path) as file:
        return file.read().strip()


class GhyviDriver(GenericDriver):
    VENDOR = "ghyvi"

    def discover(self):
        return [self.device(kind) for kind in sorted(glob.glob(f"{PARENTS}/*/mdev_supported_types/*-{GHYVI_TYPE}"))
                if read(f"{kind}/name") == f"ghyvi-{GHYVI_TYPE}"]

    def update(self, control_path, image_path):
        return False

    def get_stats(self):
        return {}

    def device(self, kind):
        parent, _, name = os.path.relpath(kind, PARENTS).split("/")
        ids = {key: read(f"{PARENTS}/{parent}/{key}").removeprefix("0x") for key in ("vendor", "device")}
        return DriverDevice(
            vendor=ids["vendor"], model="ghyvi", type=constants.DEVICE_GPU, stub=False, vendor_board_info="{}",
            std_board_info=json.dumps({"product_id": ids["device"], "description": read(f"{kind}/description")}),
            controlpath_id=DriverControlPathID(cpid_type="PCI", cpid_info=utils.pci_str_to_json(parent)),
            deployable_list=[self.deployable(kind, parent, name)])

    def deployable(self, kind, parent, name):
        # available_instances does not count the vGPUs that are there.
        count = int(read(f"{kind}/available_instances")) + len(os.listdir(f"{kind}/devices"))
        traits = (constants.OWNER_CYBORG, f"CUSTOM_GHYVI_{GHYVI_TYPE.upper()}")
        attributes = [DriverAttribute(key="rc", value=constants.RESOURCES["VGPU"])]
        attributes += [DriverAttribute(key=f"trait{index}", value=trait) for index, trait in enumerate(traits)]
        handles = [DriverAttachHandle(attach_type=constants.AH_TYPE_MDEV, in_use=False,
                                      attach_info=utils.mdev_str_to_json(parent, name, f"{name}_{index}"))
                   for index in range(count)]
        return DriverDeployable(name=f"{CONF.host}_{parent}", driver_name=self.VENDOR.upper(), num_accelerators=count,
                                attribute_list=attributes, attach_handle_list=handles)
