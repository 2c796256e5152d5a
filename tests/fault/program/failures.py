# SPDX-License-Identifier: Apache-2.0
"""Modules that crash, hang or run out of memory: blamed by name, and the others are proven all the same."""
import os

import harness

FIVE = ["good1", "crasher", "hanger", "hog", "good2"]


class Failures(harness.Case):
    def stand_in_cgroup(self):
        """A memory.events below the stand-in root, for the scenario to count kills in; gives its path."""
        self.write("root/proc/self/cgroup", "0::/pod\n")
        self.write("root/sys/fs/cgroup/pod/memory.events", "low 0\nhigh 0\nmax 0\noom 0\noom_kill 3\noom_group_kill 0\n")
        return self.path("root/sys/fs/cgroup/pod/memory.events")

    def test_crash_hang_and_memory_among_five(self):
        events = self.stand_in_cgroup()
        self.scenario(f"crash kernel=crasher\nhang kernel=hanger\nkill kernel=hog events={events}\n")
        self.modules(FIVE)
        result = self.warm(1, "--timeout", "1", "-j", "2")
        self.assertEqual(result.verdicts(), {
            "good1@sm_90": "proven", "crasher@sm_90": "crashed", "hanger@sm_90": "timed-out",
            "hog@sm_90": "out-of-memory", "good2@sm_90": "proven"}, result)
        reasons = {name: result.job(name)["reason"] for name in ("crasher", "hanger", "hog")}
        self.assertEqual(reasons, {"crasher": "killed by signal 11 (Segmentation fault), tried twice",
                                   "hanger": "gave up after 1.0 s (--timeout)",
                                   "hog": "killed by the kernel: out of memory, tried twice"})
        self.assertEqual(result.last_line,
                         "exit 1: 3 of 5 failed: crasher sm_90 (crashed: killed by signal 11 (Segmentation fault), tried twice), "
                         "hanger sm_90 (timed-out: gave up after 1.0 s (--timeout)), "
                         "hog sm_90 (out-of-memory: killed by the kernel: out of memory, tried twice)")
        self.assertEqual(result.report["exit_code"], 1)
        self.assertGreater(result.seconds, 1)
        if not harness.SANITIZED:
            self.assertLess(result.seconds, 2.5)
        self.assertTrue(os.path.exists(os.path.join(self.cache, ".prejit/receipt.json")))
        # Once more alone after a death, not after a time-out.
        self.assertEqual([len(self.events(word)) for word in ("crash", "hang", "kill")], [2, 1, 2])
        self.assert_no_rubbish()

    def test_the_next_run_takes_up_only_what_failed(self):
        self.scenario("crash kernel=crasher\n")
        self.modules(["good1", "crasher", "good2"])
        self.warm(1)
        os.remove(self.path("log"))
        self.scenario("")
        result = self.warm(0)
        self.assert_all_proven(result, ["good1", "crasher", "good2"])
        self.assertEqual([result.report["summary"][name] for name in ("compiled", "reused")], [1, 2])
        self.assertEqual(len(self.events("store")), 1)

    def test_a_crash_that_does_not_come_again(self):
        self.scenario("crash kernel=shaky times=1\n")
        self.modules(["good1", "shaky", "good2"])
        result = self.warm(0)
        self.assert_all_proven(result, ["good1", "shaky", "good2"])
        self.assertEqual(len(self.events("crash")), 1)

    def test_a_crash_while_proving(self):
        self.scenario("crash_prove kernel=fragile\n")
        self.modules(["good1", "fragile", "good2"])
        result = self.warm(1)
        self.assertEqual(result.verdicts(), {"good1@sm_90": "proven", "fragile@sm_90": "crashed",
                                             "good2@sm_90": "proven"}, result)
        self.assertEqual(result.job("fragile")["reason"],
                         "the load of the cached code: killed by signal 11 (Segmentation fault)")

    def test_a_crash_while_proving_that_does_not_come_again(self):
        self.scenario("crash_prove kernel=fragile times=1\n")
        self.modules(["good1", "fragile", "good2"])
        self.assert_all_proven(self.warm(0), ["good1", "fragile", "good2"])

    def test_killed_without_a_count_in_the_cgroup_is_no_memory_kill(self):
        self.stand_in_cgroup()
        self.scenario(f"kill kernel=hog events={self.path('elsewhere')}\n")
        self.write("elsewhere", "oom_kill 0\n")
        self.modules(["good1", "hog"])
        result = self.warm(1)
        self.assertEqual(result.job("hog")["verdict"], "crashed")
        self.assertEqual(result.job("hog")["reason"], "killed by signal 9 (Killed), tried twice")

    def test_gpu_memory_taken(self):
        self.scenario("context_fail CUDA_ERROR_OUT_OF_MEMORY\n")
        self.modules(["a", "b", "c"])
        result = self.warm(75)
        self.assertEqual(set(result.verdicts().values()), {"inconclusive"})
        self.assertEqual(result.job("a")["reason"], "no context on the GPU: CUDA_ERROR_OUT_OF_MEMORY")
        self.assertEqual(result.last_line,
                         "exit 75: 3 of 3 could not be proven now: a sm_90, b sm_90, c sm_90 (inconclusive: no context on the "
                         f"GPU: CUDA_ERROR_OUT_OF_MEMORY); run again later: prejit warm --cache {self.cache} m.yaml")
        self.assertEqual(result.report["cache"]["entries"], 3)
        # What was stored is there to be proven, without another compile.
        self.scenario("")
        os.remove(self.path("log"))
        again = self.warm(0)
        self.assert_all_proven(again, ["a", "b", "c"])
        self.assertEqual(again.report["summary"]["reused"], 3)
        self.assertEqual(self.events("compile"), [])

    def test_a_driver_that_ignores_the_switch_proves_nothing(self):
        self.scenario("ignore_disable_jit yes\n")
        self.modules(["a", "b"])
        result = self.warm(4)
        self.assertEqual(set(result.verdicts().values()), {"inconclusive"})
        self.assertEqual({job["reason_code"] for job in result.report["jobs"]}, {"control-failed"})
        self.assertEqual({job["witnesses"]["canary"] for job in result.report["jobs"]}, {False})
        self.assertEqual(self.run_and_expect(4, "verify").report["summary"]["proven"], 0)

    def test_refused_by_the_driver(self):
        self.scenario("refuse kernel=odd CUDA_ERROR_INVALID_PTX ptxas odd.ptx, line 4; error : no such thing\n"
                      "out_of_memory_jit kernel=big\n")
        self.modules(["odd", "big", "good"])
        result = self.warm(1)
        self.assertEqual(result.verdicts(), {"odd@sm_90": "rejected", "big@sm_90": "out-of-memory",
                                             "good@sm_90": "proven"}, result)
        self.assertEqual(result.job("odd")["reason"],
                         "CUDA_ERROR_INVALID_PTX: ptxas odd.ptx, line 4; error : no such thing")

    def test_one_that_is_not_required_does_not_count(self):
        self.scenario("crash kernel=extra\n")
        self.modules(["good"])
        self.write("extra.ptx", harness.ptx("extra"))
        self.write("m.yaml", self.read("m.yaml") + "  - {name: extra, ptx: extra.ptx, required: false}\n")
        result = self.warm(0)
        self.assertEqual(result.verdicts(), {"good@sm_90": "proven", "extra@sm_90": "crashed"})
        self.assertIn("; 1 not required: extra sm_90 (crashed: killed by signal 11 (Segmentation fault), tried twice)",
                      result.last_line)

    def test_a_driver_that_dies_at_once(self):
        self.scenario("nonsense\n")
        self.modules(["a"])
        result = self.run_and_expect(3, "warm")
        said = f"emulated driver: {self.path('scenario')}:4: no directive `nonsense`"
        self.assertEqual(result.errors.splitlines()[-1],
                         "prejit: the CUDA driver does not start; its worker process: killed by signal 6 (Aborted) while "
                         f'calling cuInit; it said last: "{said}"; see: prejit doctor')


if __name__ == "__main__":
    harness.main()
