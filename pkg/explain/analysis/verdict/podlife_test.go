package verdict_test

import (
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/explaintest"
)

// Requirements: CON-04
func TestAllContainersInACrashLoopAreNamed(t *testing.T) {
	pod := explaintest.Containers(corev1.PodRunning, nil, []corev1.ContainerStatus{
		explaintest.Restarted(explaintest.WaitsFor("default-schema", "CrashLoopBackOff"), 4, 1, time.Minute), explaintest.Restarted(explaintest.WaitsFor("visibility-schema", "CrashLoopBackOff"), 3, 2, time.Minute),
	})
	job := explaintest.JobOfPod(pod)
	job.Spec.Template.Spec.RestartPolicy = corev1.RestartPolicyOnFailure
	explaintest.WantVerdict(t, explaintest.Report(explaintest.InputOf(job, explaintest.PodOf("a", pod))),
		"The Job is stalled: container default-schema exited with code 1 after 1m, and container visibility-schema with code 2, restarted 7 times in all.")
}

// Requirements: CON-04
func TestContainerThatEndedBeforeTheOthersLeadsTheAnswer(t *testing.T) {
	pod := explaintest.Containers(corev1.PodRunning, nil, []corev1.ContainerStatus{explaintest.EndedWith("desktop", 0, 10*time.Minute), runsSince("sssd", 20*time.Minute)})
	r := explaintest.Report(explaintest.InputOf(explaintest.JobOfPod(pod), explaintest.PodOf("a", pod)))
	explaintest.WantVerdict(t, r, "Container desktop of pod a ended 10m ago with exit code 0, and container sssd keeps the pod from ending; The Job is running: 0 of 1 pod succeeded, 1 pod is active.")
	assertNotStalled(t, r)
}

// runsSince returns the status of a container that has been running for d.
func runsSince(name string, d time.Duration) corev1.ContainerStatus {
	return corev1.ContainerStatus{Name: name, Ready: true, Started: ptr.To(true), State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: explaintest.Ago(d)}}}
}

// unready marks a running container as not ready.
func unready(s corev1.ContainerStatus) corev1.ContainerStatus {
	s.Ready, s.Started = false, ptr.To(false)
	return s
}

func assertNotStalled(t *testing.T, r explain.Report) {
	t.Helper()
	if r.Verdict.Stalled || len(r.Problems) > 0 && r.Problems[0].Blocks {
		t.Errorf("%+v", r.Problems)
	}
}

// Requirements: CON-04
func TestProxyThatIsStoppedAfterTheWorkIsBlamedAlone(t *testing.T) {
	ends := func(report, proxy int32, later time.Duration) *input.Pod {
		return explaintest.PodOf("a", func(p *corev1.Pod) {
			explaintest.Containers(corev1.PodFailed, nil, []corev1.ContainerStatus{explaintest.EndedWith("report", report, 10*time.Minute), explaintest.EndedWith("cloud-sql-proxy", proxy, 10*time.Minute-later)})(p)
			p.Finalizers = nil
		})
	}
	of := func(p *input.Pod) explain.Report {
		job := explaintest.JobOfPod(explaintest.Containers(corev1.PodFailed, nil, []corev1.ContainerStatus{explaintest.EndedWith("report", 0, 0), explaintest.EndedWith("cloud-sql-proxy", 0, 0)}))
		job.Spec.BackoffLimit, job.Status.Failed, job.Status.Active = ptr.To[int32](0), 1, 0
		explaintest.FailJob(job, batchv1.JobReasonBackoffLimitExceeded, "")
		return explaintest.Report(explaintest.InputOf(job, p))
	}
	r := of(ends(0, 143, time.Second))
	explaintest.WantVerdict(t, r, "The Job failed: container cloud-sql-proxy exited with code 143 (SIGTERM) after container report had succeeded; backoffLimit 0 allows no retries.")
	explaintest.WantText(t, r, "--exit-zero-on-sigterm")
	explaintest.WantWithout(t, r, "find out what stopped", "it was asked to stop by")
	for name, p := range map[string]*input.Pod{"the work failed": ends(1, 143, time.Second), "the proxy failed": ends(0, 1, time.Second), "the work ended later": ends(0, 143, -time.Second)} {
		if r := of(p); len(r.Causes[0].After) > 0 {
			t.Errorf("%s: %+v", name, r.Causes[0])
		}
	}
}

// Requirements: CLI-06
func TestLimitNamesTheOnlyIndexThatFailedAndTheParallelism(t *testing.T) {
	failing := func(change func(*batchv1.Job)) *batchv1.Job {
		return explaintest.JobWith(func(j *batchv1.Job) {
			j.Spec.CompletionMode, j.Spec.BackoffLimit, j.Status.Failed = ptr.To(batchv1.IndexedCompletion), ptr.To[int32](1), 2
			explaintest.FailJob(j, batchv1.JobReasonBackoffLimitExceeded, "")
			change(j)
		})
	}
	one := failing(func(*batchv1.Job) {})
	r := explaintest.Report(explaintest.InputOf(one, explaintest.PodOf("a", explaintest.OnIndex(2, 1, explaintest.Exits(1, "Error", 20*time.Minute))), explaintest.PodOf("b", explaintest.OnIndex(2, 2, explaintest.Exits(1, "Error", 11*time.Minute)))))
	explaintest.WantText(t, r, "2 pods of index 2 failed, and backoffLimit 1 allows 1 retry")
	r = explaintest.Report(explaintest.InputOf(one, explaintest.PodOf("a", explaintest.OnIndex(1, 1, explaintest.Exits(1, "Error", 20*time.Minute))), explaintest.PodOf("b", explaintest.OnIndex(2, 2, explaintest.Exits(1, "Error", 11*time.Minute)))))
	explaintest.WantText(t, r, "2 pods failed (parallelism 2), and backoffLimit 1 allows 1 retry in all")

	many := failing(func(j *batchv1.Job) {
		j.Spec.CompletionMode, j.Spec.Parallelism, j.Spec.BackoffLimit = ptr.To(batchv1.NonIndexedCompletion), ptr.To[int32](3), ptr.To[int32](0)
	})
	r = explaintest.Report(explaintest.InputOf(many, explaintest.PodOf("a", explaintest.Exits(1, "Error", 11*time.Minute)), explaintest.PodOf("b", explaintest.Exits(1, "Error", 11*time.Minute))))
	explaintest.WantText(t, r, "2 pods failed (parallelism 3), and backoffLimit 0 allows no retries")
}

// Requirements: CLI-06
func TestRunningJobIsExplainedByItsParallelismAndItsAge(t *testing.T) {
	runs := func(d time.Duration) *input.Pod {
		return explaintest.PodOf("a", func(p *corev1.Pod) { p.Status.ContainerStatuses = []corev1.ContainerStatus{runsSince("main", d)} })
	}
	job := explaintest.JobWith(func(j *batchv1.Job) { j.Spec.Completions, j.Status.Active = ptr.To[int32](1), 1 })
	r := explaintest.Report(explaintest.InputOf(job, runs(10*time.Minute)))
	explaintest.WantVerdict(t, r, "The Job is running: 0 of 1 pod succeeded, 1 pod is active; completions 1 needs no more pods at once, although parallelism is 2.")
	r = explaintest.Report(explaintest.InputOf(job, runs(3*time.Hour)))
	explaintest.WantText(t, r, "its pod (container main) has been running for 3h, and no activeDeadlineSeconds ends it", "kubectl logs a --timestamps --tail=20 -n ns")
	job.Spec.ActiveDeadlineSeconds = ptr.To[int64](20000)
	explaintest.WantWithout(t, explaintest.Report(explaintest.InputOf(job, runs(3*time.Hour))), "no activeDeadlineSeconds")
}

// Requirements: CLI-06
func TestCompleteJobNamesItsEarlierFailures(t *testing.T) {
	job := explaintest.JobWith(func(j *batchv1.Job) {
		j.Spec.Completions, j.Spec.Parallelism, j.Status.Succeeded, j.Status.Failed = ptr.To[int32](1), ptr.To[int32](1), 1, 1
		j.Status.CompletionTime = ptr.To(explaintest.Ago(9 * time.Minute))
		explaintest.AddCondition(j, batchv1.JobComplete, "", "", 9*time.Minute)
	})
	r := explaintest.Report(explaintest.InputOf(job, explaintest.PodOf("a", explaintest.Exits(3, "Error", 20*time.Minute)), explaintest.PodOf("b", explaintest.Exits(0, "", 10*time.Minute))))
	explaintest.WantText(t, r, "1 pod had failed before: container main exited with code 3")
}

// Requirements: CON-04
func TestInitContainerIsExplainedByTheServersOfItsCommand(t *testing.T) {
	for command, server := range map[string]string{
		"until nc -z elk.default.svc 9200 -w 2; do sleep 2; done && until nc -z elk.default.svc 12201; do sleep 2; done": "elk.default.svc:9200",
		"until nslookup etcd.default.svc.cluster.local; do sleep 2; done":                                                "etcd.default.svc.cluster.local",
		"until pg_isready -h $DB_HOST -p 5432; do sleep 1; done":                                                         "db.example:5432",
		"while ! curl -sf http://keycloak:8080/health; do sleep 5; done":                                                 "keycloak:8080",
		"wait-for-it.sh -t 0 rabbitmq:5672":                                                                              "rabbitmq:5672",
		"cp -r /src /dst":                                                                                                "",
	} {
		pod := explaintest.Containers(corev1.PodPending, []corev1.ContainerStatus{unready(runsSince("wait", 10*time.Minute))}, []corev1.ContainerStatus{explaintest.WaitsFor("main", "PodInitializing")})
		job := explaintest.JobOfPod(pod)
		c := &job.Spec.Template.Spec.InitContainers[0]
		c.Command, c.Env = []string{"sh", "-c", command}, []corev1.EnvVar{{Name: "DB_HOST", Value: "db.example"}}
		r := explaintest.Report(explaintest.InputOf(job, explaintest.PodOf("a", pod)))
		if server == "" {
			explaintest.WantWithout(t, r, "its command waits for")
			continue
		}
		explaintest.WantText(t, r, "Init container wait has been running for 10m: its command waits for "+server, "check whether "+server+" can be reached")
	}
}

// Requirements: CON-04
func TestInitContainerThatFailsSilentlyIsExplainedByTheServersOfItsCommand(t *testing.T) {
	crashes := explaintest.Restarted(explaintest.WaitsFor("wait", "CrashLoopBackOff"), 5, 1, time.Minute)
	pod := explaintest.Containers(corev1.PodPending, []corev1.ContainerStatus{crashes}, []corev1.ContainerStatus{explaintest.WaitsFor("main", "PodInitializing")})
	job := explaintest.JobOfPod(pod)
	job.Spec.Template.Spec.RestartPolicy = corev1.RestartPolicyOnFailure
	job.Spec.Template.Spec.InitContainers[0].Command = []string{"sh", "-c", "nc -z -w 3 db 5432"}
	in := explaintest.InputOf(job, explaintest.PodOf("a", pod))
	in.Logs = []input.LogTail{input.NewLogTail("a", "wait", nil, 10, true)}
	explaintest.WantText(t, explaintest.Report(in), "its command asks for db:5432", "check whether db:5432 can be reached")
}

// Requirements: CLI-06
func TestDeadlineThatIsOverDuringAPullNamesTheImage(t *testing.T) {
	job := explaintest.JobWith(func(j *batchv1.Job) {
		j.Spec.ActiveDeadlineSeconds, j.Status.Failed = ptr.To[int64](600), 1
		explaintest.FailJob(j, batchv1.JobReasonDeadlineExceeded, "")
	})
	f := explaintest.InputOf(job)
	pull := input.Event{Type: "Normal", Reason: "Pulling", Message: `Pulling image "ghcr.io/x/api:1"`, Pod: "a", Source: "kubelet", Count: 1, First: explaintest.Noon.Add(-20 * time.Minute), Last: explaintest.Noon.Add(-20 * time.Minute)}
	f.Events = []input.Event{{Type: "Normal", Reason: "SuccessfulCreate", Message: "Created pod: a", Count: 1, First: explaintest.Noon.Add(-21 * time.Minute), Last: explaintest.Noon.Add(-21 * time.Minute)}, pull}
	explaintest.WantText(t, explaintest.Report(f), "its pods never started, as image ghcr.io/x/api:1 was still being pulled")
	pulled := pull
	pulled.Last, pulled.Reason, pulled.Message = pull.Last.Add(time.Minute), "Pulled", `Successfully pulled image "ghcr.io/x/api:1"`
	f.Events = append(f.Events, pulled)
	explaintest.WantWithout(t, explaintest.Report(f), "still being pulled")
}
