"""Builds the package as PEP 517 asks, with nothing but Python, so that pip needs no network."""

import base64
import hashlib
import io
import os
import re
import tarfile
import zipfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def _read(*path):
    with open(os.path.join(ROOT, *path), encoding="utf-8") as file:
        return file.read()


def _project():
    """The plain strings of [project]; Python before 3.11 has no reader of TOML."""
    section = re.search(r"^\[project\]\n(.*?)(?=^\[)", _read("pyproject.toml"), re.M | re.S).group(1)
    return dict(re.findall(r'^([\w-]+) = "(.*)"$', section, re.M))


def _metadata(project):
    return (
        "Metadata-Version: 2.1\n"
        "Name: {name}\nVersion: {version}\nSummary: {description}\nRequires-Python: {requires-python}\n"
        "Description-Content-Type: text/markdown\n\n".format(**project)
        + _read(project["readme"])
    )


def _info(project):
    """Name and content of the files in *.dist-info, but RECORD."""
    folder = "{name}-{version}.dist-info".format(**project)
    return {
        folder + "/METADATA": _metadata(project),
        folder + "/WHEEL": "Wheel-Version: 1.0\nGenerator: gorgo\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        folder + "/top_level.txt": "gorgo\n",
    }


def _package():
    names = sorted(os.listdir(os.path.join(ROOT, "gorgo")))
    return {"gorgo/" + name: _read("gorgo", name) for name in names if name.endswith((".py", ".typed"))}


def _record(files, folder):
    lines = []
    for name, content in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(content.encode()).digest()).rstrip(b"=").decode()
        lines.append("{},sha256={},{}".format(name, digest, len(content.encode())))
    return "\n".join(lines + [folder + "/RECORD,,"]) + "\n"


def _write_wheel(directory, package):
    project = _project()
    folder = "{name}-{version}.dist-info".format(**project)
    files = dict(package, **_info(project))
    files[folder + "/RECORD"] = _record(files, folder)
    wheel = "{name}-{version}-py3-none-any.whl".format(**project)
    with zipfile.ZipFile(os.path.join(directory, wheel), "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            # The same sources make the same wheel: all files have the oldest time that the format knows.
            entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, content, zipfile.ZIP_DEFLATED)
    return wheel


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    return _write_wheel(wheel_directory, _package())


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    return _write_wheel(wheel_directory, {"gorgo.pth": ROOT + "\n"})


def build_sdist(sdist_directory, config_settings=None):
    project = _project()
    base = "{name}-{version}".format(**project)
    names = ["pyproject.toml", project["readme"], "_build/backend.py", *_package()]
    with tarfile.open(os.path.join(sdist_directory, base + ".tar.gz"), "w:gz") as archive:
        for name in names:
            archive.add(os.path.join(ROOT, name), base + "/" + name)
        metadata = _metadata(project).encode()
        entry = tarfile.TarInfo(base + "/PKG-INFO")
        entry.size = len(metadata)
        archive.addfile(entry, io.BytesIO(metadata))
    return base + ".tar.gz"
