# SPDX-License-Identifier: Apache-2.0
"""Builds the stages of a Dockerfile as plain folders, and runs commands in them, without Docker: what is absolute in a
command lies below the stage's folder. Knows the instructions that the project's own file has, and refuses others."""
import json
import os
import re
import shlex
import shutil
import subprocess

# An absolute path at the beginning of a word, but for the machine's own programs and devices.
ABSOLUTE = re.compile(r"(?<![\w./}*-])/(?!bin/|usr/bin/|dev/)(?=[a-z])")


class BrokenImage(Exception):
    """An instruction cannot be carried out, or a command of it failed."""


class Stage:
    """A folder that stands for an image's root, and what the image says of its processes."""

    def __init__(self, base, root):
        self.base, self.root = base, root
        self.environment, self.user, self.entrypoint = {}, None, None
        os.makedirs(root)

    def inside(self, text):
        """`text` with the paths of the image as they are on this machine."""
        return ABSOLUTE.sub(lambda _: self.root + "/", text)

    def run(self, command, environment, user=None, timeout=60):
        """Runs an argument list of the image; `user` is a UID, and GID, that only root can take on."""
        variables = {**environment, **{name: self.inside(value) for name, value in self.environment.items()}}
        variables["PATH"] = f"{self.root}/usr/local/bin:/usr/bin:/bin"
        become = {"user": user, "group": user, "extra_groups": []} if user is not None and os.geteuid() == 0 else {}
        return subprocess.run([self.inside(word) for word in command], cwd=self.root, env=variables, text=True,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False,
                              timeout=timeout, umask=0o022, **become)


def instructions(text):
    """[(word, rest)] of a Dockerfile, comments left out and continued lines joined."""
    text = "".join(line + "\n" for line in text.splitlines() if not line.lstrip().startswith("#"))
    found = []
    for line in text.replace("\\\n", " ").splitlines():
        if line.strip():
            word, _, rest = line.strip().partition(" ")
            found.append((word, rest.strip()))
    return found


class Build:
    """The stages of one Dockerfile, made below `folder` from the build context `context`."""

    def __init__(self, text, context, folder, environment):
        self.context, self.folder, self.environment = context, folder, environment
        self.stages, self.names, self.arguments, self.runs = [], {}, {}, []
        for word, rest in instructions(text):
            action = getattr(self, f"do_{word.lower()}", None)
            if not action or (not self.stages and word != "FROM"):
                raise BrokenImage(f"{word} {rest}: not an instruction that this test knows here")
            action(rest)

    @property
    def last(self):
        return self.stages[-1]

    def do_from(self, rest):
        base, _, name = rest.partition(" AS ")
        self.stages.append(Stage(base, os.path.join(self.folder, f"stage{len(self.stages)}")))
        self.names[name] = self.last

    def do_arg(self, rest):
        name, _, value = rest.partition("=")
        self.arguments[name] = value

    def do_env(self, rest):
        name, equals, value = rest.partition("=")
        if not equals:
            raise BrokenImage(f"ENV {rest}: no NAME=VALUE")
        self.last.environment[name] = value

    def do_user(self, rest):
        self.last.user = int(rest.split(":")[0])

    def do_entrypoint(self, rest):
        self.last.entrypoint = json.loads(rest)

    def do_copy(self, rest):
        words = shlex.split(rest)
        options = dict(word[2:].split("=", 1) for word in words if word.startswith("--"))
        source, target = [word for word in words if not word.startswith("--")]
        if unknown := set(options) - {"from", "chown"}:
            raise BrokenImage(f"COPY {rest}: --{unknown.pop()} is not known here")
        if "from" in options:
            source = self.names[options["from"]].inside(source)
        else:
            source = os.path.join(self.context, source)
        if not os.path.exists(source):
            raise BrokenImage(f"COPY {rest}: {source} is not there")
        target = self.last.inside(target)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        if os.path.isdir(source):
            shutil.copytree(source, target, symlinks=True, dirs_exist_ok=True)
        else:
            shutil.copy2(source, target)
        if os.geteuid() == 0:
            user, group = map(int, options.get("chown", "0:0").split(":"))
            for path in [target] + [os.path.join(folder, name) for folder, folders, names in os.walk(target)
                                    for name in folders + names]:
                os.chown(path, user, group, follow_symlinks=False)

    def do_run(self, rest):
        result = self.last.run(["/bin/sh", "-c", rest], {**self.environment, **self.arguments}, self.last.user)
        self.runs.append((self.last, rest))
        if result.returncode != 0:
            raise BrokenImage(f"RUN {rest}: status {result.returncode}\n{result.stdout}{result.stderr}")
