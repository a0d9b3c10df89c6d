#!/usr/bin/env python3
"""Export the networks of this folder that come from torchvision, without weights.

    python3 tests/known/onnx/export.py [NAME...]

Needs Debian's python3-torchvision (0.14.1 in Debian 12; 605 MB), which is why the files are kept here. Parameters become inputs
of the graph (export_params=False), so a file holds shapes alone. encoder2 is two blocks of torch's own transformer encoder.
swin_t is not kept (1.4 MB): `python3 tests/known/onnx/export.py swin_t` makes it.
"""
import os
import sys

import torch
import torchvision

VISION = ["resnet50", "mobilenet_v3_large", "efficientnet_b0", "regnet_y_400mf", "shufflenet_v2_x1_0", "convnext_tiny", "vit_b_16"]


def model_of(name):
    """The model and an input for it."""
    if name == "encoder2":
        layer = torch.nn.TransformerEncoderLayer(256, 8, 1024, batch_first=True, activation="gelu")
        return torch.nn.TransformerEncoder(layer, 2), torch.zeros(1, 128, 256)
    if name == "fcn_resnet50":
        return torchvision.models.segmentation.fcn_resnet50(weights=None, weights_backbone=None), torch.zeros(1, 3, 224, 224)
    return getattr(torchvision.models, name)(weights=None), torch.zeros(1, 3, 224, 224)


for name in sys.argv[1:] or [*VISION, "fcn_resnet50", "encoder2"]:
    model, example = model_of(name)
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), name + ".onnx")
    torch.onnx.export(model.eval(), example, path, opset_version=14, export_params=False, do_constant_folding=False)
    print(path, os.path.getsize(path))
