# SPDX-License-Identifier: Apache-2.0
"""The files of docs/deploy do what they say: their own commands, not copies, are run with the emulated toolkit where an
image would be built, and with the emulated driver where it would be run."""
import os
import re
import shlex
import shutil
import sys

import yaml

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "../fault/program"), os.path.join(HERE, "../gpu")]
import cache  # noqa: E402
import harness  # noqa: E402
import image  # noqa: E402
import workload  # noqa: E402

DEPLOY = os.path.join(harness.SOURCE, "docs/deploy")
OWNER, STRANGER = 10001, 20002  # the user of the image, and one that a platform puts in its place
MANIFEST = """version: 1
targets: [sm_90, sm_80]
verify: {samples: 1}
modules:
  - {name: axpb, ptx: kernels/axpb.ptx}
  - {name: tuned, ptx: kernels/axpb.ptx, options: {max_registers: 64}}
  - {name: linked, link: [kernels/one.ptx, kernels/two.ptx]}
"""
JOBS, ENTRIES = 6, 8
NATIVE_JOBS, NATIVE_ENTRIES = 3, 4
ANOTHER_BUILD = "stamp Jan 01 202712:00:00\n"


def text_of(name):
    with open(os.path.join(DEPLOY, name), encoding="utf-8") as file:
        return file.read()


def command_of_readme():
    """The arguments that README.md hands to prejit in the image."""
    (line,) = re.findall(r"^    docker run .* --entrypoint prejit app (.*)$", text_of("README.md"), re.M)
    return ["prejit", *shlex.split(line)]


class Deploy(harness.Case):
    """A build context with a program, and a machine with a GPU."""

    def setUp(self):
        super().setUp()
        os.chmod(self.folder, 0o755)
        if harness.SANITIZED:  # leaks are looked for by ptrace, which a process of another user forbids
            self.environment["ASAN_OPTIONS"] = self.environment.get("ASAN_OPTIONS", "") + ":detect_leaks=0"
        os.makedirs(self.path("context/kernels"))
        os.mkdir(self.path("driver"))
        shutil.copy2(harness.PROGRAM, self.path("context/prejit"))
        shutil.copy2(harness.DRIVER, self.path("driver/libcuda.so.1"))
        shutil.copy2(os.path.join(harness.BUILD, "tests/gpu/calc"), self.path("driver/calc"))
        self.write("context/app.yaml", MANIFEST)
        self.write("context/kernels/axpb.ptx", workload.HEADER + workload.AXPB)
        for name in ("one", "two"):
            self.write(f"context/kernels/{name}.ptx", harness.ptx(name))
        self.write("context/app", f"#!/bin/sh\nexec {self.path('driver/calc')} \"${{0%/bin/app}}/kernels/axpb.ptx\"\n")
        os.chmod(self.path("context/app"), 0o755)
        toolkit = os.path.join(harness.BUILD, "tests/fake/toolkit")
        os.mkdir(self.path("toolkit"))
        os.symlink(os.path.join(toolkit, "bin"), self.path("toolkit/bin"))
        os.symlink(toolkit, self.path("toolkit/lib64"))
        self.builder = {**self.environment, "PREJIT_DRIVER": "/nonexistent/libcuda.so.1",
                        "CUDA_HOME": self.path("toolkit")}
        del self.builder["NVIDIA_FAKE_SCENARIO"]
        self.builds = 0

    def scenario(self, text, devices=harness.ONE_GPU):
        """The emulated driver writes its log and state as whoever loads it."""
        super().scenario(text, devices)
        for name in ("log", "state"):
            self.write(name, "")
            os.chmod(self.path(name), 0o666)

    def build(self, text=None):
        self.builds += 1
        return image.Build(text or text_of("Dockerfile"), self.path("context"), self.path(f"image{self.builds}"),
                           self.builder)

    def on_gpu(self, stage, command, user=None, **variables):
        environment = {**self.environment, "PREJIT_DRIVER": self.path("driver/libcuda.so.1"),
                       "LD_LIBRARY_PATH": self.path("driver"), **variables}
        return stage.run(command, environment, stage.user if user is None else user)

    def expect(self, status, result):
        self.assertEqual(result.returncode, status, result.stdout + result.stderr)
        return result.stdout.splitlines()[-1] if result.stdout else ""

    def assert_program_hits(self, stage, **more):
        result = self.on_gpu(stage, stage.entrypoint, CUDA_DISABLE_PTX_JIT="1", **more)
        self.assertIn("RIGHT", result.stdout, result.stdout + result.stderr)
        self.expect(0, result)

    def assert_compiled(self, count):
        """The driver compiled this many images of the manifest, and the module that its stamp is learned from."""
        self.assertEqual(len(self.events("compile")), 1 + count)


class Image(Deploy):
    def test_the_build_stage_fills_a_cache_and_the_run_stage_gets_it(self):
        built = self.build()
        warm, run = built.stages
        self.assertEqual(["-devel-" in stage.base for stage in built.stages], [True, False])
        self.assertEqual(warm.environment["CUDA_CACHE_PATH"], run.environment["CUDA_CACHE_PATH"])
        filled, got = (stage.inside(stage.environment["CUDA_CACHE_PATH"]) for stage in built.stages)
        self.assertEqual(len(cache.read_index(got)), ENTRIES)
        self.assertEqual(cache.contents(got), cache.contents(filled))
        self.assertEqual(set(cache.contents(got)), set(cache.read_index(got)))
        if os.geteuid() == 0:
            self.assertEqual({os.stat(os.path.join(got, name)).st_uid for name in (".", "index")}, {OWNER})
            self.assertEqual(run.user, OWNER)

    def test_a_second_build_compiles_nothing(self):
        built = self.build()
        stage, command = built.runs[0]
        self.assertIn("warm --offline", command)
        os.remove(self.path("toolkit/bin"))
        result = stage.run(["/bin/sh", "-c", command], {**self.builder, **built.arguments})
        self.assertIn(f"{JOBS} jobs: {JOBS} stored ({JOBS} reused", self.expect(0, result))

    def test_the_user_of_the_image_hits(self):
        run = self.build().last
        last = self.expect(0, self.on_gpu(run, command_of_readme()))
        self.assertIn(f"{NATIVE_JOBS} jobs: {NATIVE_JOBS} proven", last)
        self.assert_program_hits(run)
        self.assertEqual(self.events("compile"), [])

    def test_any_other_user_hits(self):
        if os.geteuid() != 0:
            harness.skip("only root can become other users")
        run = self.build().last
        self.expect(0, self.on_gpu(run, command_of_readme(), STRANGER))
        self.assert_program_hits(run, user=STRANGER)
        without_modes = self.build(re.sub(r"^RUN chmod.*$", "", text_of("Dockerfile"), flags=re.M)).last
        self.expect(4, self.on_gpu(without_modes, command_of_readme(), STRANGER))

    def test_another_driver_finds_nothing_and_breaks_nothing(self):
        run = self.build().last
        found = run.inside(run.environment["CUDA_CACHE_PATH"])
        before = set(cache.read_index(found))
        self.scenario(ANOTHER_BUILD)
        self.expect(4, self.on_gpu(run, command_of_readme()))
        result = self.on_gpu(run, run.entrypoint)
        self.assertIn("RIGHT", result.stdout)
        self.expect(0, result)
        self.assertLessEqual(before, set(cache.read_index(found)))
        self.assertEqual(self.harm(), [])

    def test_a_broken_command_is_seen(self):
        """That these tests can fail."""
        text = text_of("Dockerfile")
        for old, new in (("prejit warm", "prejit wram"), ("--offline", "--ofline"), ("$CUDA_CACHE_PATH/index", "$CUDA_CACHE_PATH/indx"),
                         ("COPY kernels", "COPY kernel"), ("=580.159.04", "=1.2.3")):
            with self.subTest(new=new), self.assertRaises(image.BrokenImage):
                self.assertIn(old, text)
                self.build(text.replace(old, new))


class Readme(Deploy):
    def test_its_two_commands_for_an_image_build(self):
        with open(os.path.join(harness.SOURCE, "README.md"), encoding="utf-8") as file:
            block = re.search(r"^## Image builds.*?^```sh\n(.*?)^```$", file.read(), re.M | re.S).group(1)
        offline, warm = block.splitlines()
        stage = image.Stage("", self.path("image"))
        shutil.copytree(self.path("context"), stage.root, dirs_exist_ok=True)
        shutil.copytree(self.path("context"), os.path.join(stage.root, "usr/local/bin"))
        self.assertIn(" stored (", self.expect(0, stage.run(["/bin/sh", "-c", offline], self.builder)))
        result = self.on_gpu(stage, ["/bin/sh", "-c", warm])
        self.assertIn(f"{NATIVE_JOBS} proven ({NATIVE_JOBS} reused)", self.expect(0, result))
        self.assert_compiled(0)


class Pod(Deploy):
    def setUp(self):
        super().setUp()
        self.pod = yaml.safe_load(text_of("kubernetes.yaml"))["spec"]["template"]["spec"]
        self.stage = self.build().last
        self.user = self.pod["securityContext"]["runAsUser"]
        (self.warming,), (self.program,) = self.pod["initContainers"], self.pod["containers"]
        self.new_volume()

    def new_volume(self):
        """An empty directory where containers mount the volume: it belongs to root, and everybody may write."""
        (mount,) = self.warming["volumeMounts"]
        self.volume = self.stage.inside(mount["mountPath"])
        shutil.rmtree(self.volume, ignore_errors=True)
        os.mkdir(self.volume)
        os.chmod(self.volume, 0o777)

    def enter(self, container):
        """The image as this container sees it."""
        for variable in container["env"]:
            self.stage.environment[variable["name"]] = variable["value"]
        return self.stage

    def warm(self, status, script=None, **more):
        command = self.warming["command"] + [script or self.warming["args"][0]]
        return self.expect(status, self.on_gpu(self.enter(self.warming), command, self.user, **more))

    def test_both_containers_mean_one_cache(self):
        for key in ("image", "env", "volumeMounts", "resources"):
            self.assertEqual(self.warming[key], self.program[key], key)
        (mount,), (volume,) = self.warming["volumeMounts"], self.pod["volumes"]
        self.assertEqual(mount["name"], volume["name"])
        (variable,) = self.warming["env"]
        self.assertEqual(variable["name"], "CUDA_CACHE_PATH")
        self.assertTrue(variable["value"].startswith(mount["mountPath"] + "/"))

    def test_the_images_cache_is_proven_and_nothing_is_compiled(self):
        self.assertIn(f"{NATIVE_JOBS} jobs: {NATIVE_JOBS} proven ({NATIVE_JOBS} reused)", self.warm(0))
        self.assert_compiled(0)
        self.assert_program_hits(self.enter(self.program), user=self.user)

    def test_the_next_start_on_the_volume_has_nothing_to_do(self):
        self.warm(0)
        self.scenario("")
        self.assertIn("nothing to do", self.warm(0))
        self.assertEqual(self.events("init"), [])

    def test_another_driver_compiles_once(self):
        self.scenario(ANOTHER_BUILD)
        self.assertIn(f"{NATIVE_JOBS} jobs: {NATIVE_JOBS} proven ({NATIVE_JOBS} compiled)", self.warm(0))
        self.assert_compiled(NATIVE_ENTRIES)
        self.assert_program_hits(self.enter(self.program), user=self.user)
        self.assertIn("nothing to do", self.warm(0))

    def test_whoever_the_pod_runs_as(self):
        if os.geteuid() != 0:
            harness.skip("only root can become other users")
        self.user = STRANGER
        self.assertIn(f"({NATIVE_JOBS} reused)", self.warm(0))
        self.assert_program_hits(self.enter(self.program), user=STRANGER)

    def test_a_failure_is_the_containers(self):
        self.warm(3, PREJIT_DRIVER="/nonexistent/libcuda.so.1")
        self.new_volume()
        self.warm(2, self.warming["args"][0].replace("prejit warm", "prejit wram"))
        self.new_volume()
        os.rmdir(self.volume)
        os.symlink("/proc/self/nowhere", self.volume)
        self.warm(1)

    def test_what_was_not_copied_is_seen(self):
        """That these tests can fail: without its copy everything is compiled."""
        script = re.sub(r"^ *cp .*$", "", self.warming["args"][0], flags=re.M)
        self.assertIn(f"({NATIVE_JOBS} compiled)", self.warm(0, script))


if __name__ == "__main__":
    harness.main()
