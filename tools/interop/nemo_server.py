"""A resources server of NeMo Gym by itself, for tools/interop/nemo.ts (pip install nemo-gym).

usage: python nemo_server.py FOLDER CLASS PORT, such as example_session_state_mgmt StatefulCounterResourcesServer 8000
"""

import importlib
import sys

import uvicorn
from nemo_gym.server_utils import BaseServerConfig, ServerClient
from omegaconf import OmegaConf

folder, name, port = sys.argv[1], sys.argv[2], int(sys.argv[3])
kind = getattr(importlib.import_module(f"resources_servers.{folder}.app"), name)
config = kind.model_fields["config"].annotation(host="127.0.0.1", port=port, entrypoint="app.py", name=folder)
head = BaseServerConfig(host="127.0.0.1", port=1)
client = ServerClient(head_server_config=head, global_config_dict=OmegaConf.create({}))
server = kind(config=config, server_client=client)
uvicorn.run(server.setup_webserver(), host="127.0.0.1", port=port, log_level="warning")
