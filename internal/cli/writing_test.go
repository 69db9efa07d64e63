package cli

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"sigs.k8s.io/yaml"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/clitest"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/leash"
)

// limited is a Job of three indexes with a memory limit; stored ones have a status, too.
const limited = `apiVersion: batch/v1
kind: Job
metadata: {name: train}
spec:
  completions: 3
  parallelism: 3
  completionMode: Indexed
  template:
    spec:
      restartPolicy: Never
      containers: [{name: main, image: "new:1", resources: {limits: {memory: 1Gi}}}]
`

// stored returns the Job of limited with a status, in YAML.
func stored(t *testing.T, name, image, status string) *unstructured.Unstructured {
	t.Helper()
	text := strings.NewReplacer("name: train", "namespace: ns1, creationTimestamp: \"2026-03-01T11:00:00Z\", uid: uid-"+name+", name: "+name, "new:1", image).Replace(limited)
	data, err := yaml.YAMLToJSON([]byte(text + "status: " + status + "\n"))
	job := &unstructured.Unstructured{}
	if err == nil {
		err = job.UnmarshalJSON(data)
	}
	assert.NoError(t, err)
	return job
}

const (
	hasCompleted = `{succeeded: 3, completedIndexes: 0-2, startTime: "2026-03-01T11:00:00Z", conditions: [{type: Complete, status: "True"}]}`
	hasFailed    = `{succeeded: 2, failed: 1, completedIndexes: "0,2", failedIndexes: "1", startTime: "2026-03-01T11:00:00Z", conditions: [{type: Failed, status: "True", reason: FailedIndexes, lastTransitionTime: "2026-03-01T11:01:00Z"}]}`
	isRunning    = `{active: 2, succeeded: 1, completedIndexes: "0", startTime: "2026-03-01T11:00:00Z"}`
)

// outOfMemory returns the pod of index 1 of a Job, which was OOMKilled.
func outOfMemory(job *unstructured.Unstructured) *corev1.Pod {
	pod := clitest.EndedPod(job, job.GetName()+"-1", 137, "")
	pod.Labels = map[string]string{"batch.kubernetes.io/job-name": job.GetName()}
	pod.Annotations = map[string]string{"batch.kubernetes.io/job-completion-index": "1"}
	pod.Status.ContainerStatuses[0].State.Terminated.Reason = "OOMKilled"
	pod.Spec.Containers = []corev1.Container{{Name: "main", Resources: corev1.ResourceRequirements{
		Limits: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("1Gi")},
	}}}
	return pod
}

// withJobs returns a cluster with these Jobs, of which those that failed were OOMKilled.
func withJobs(jobs ...*unstructured.Unstructured) func(t *testing.T) *clitest.Writes {
	return func(t *testing.T) *clitest.Writes {
		api := clitest.NewWrites(t, jobs...)
		api.API.Answers = map[string]any{"version": map[string]string{"major": "1", "minor": "36"}}
		for _, job := range jobs {
			if !strings.Contains(job.GetName(), "done") {
				api.Pods.Put(outOfMemory(job))
			}
		}
		return api
	}
}

// withCronJob returns a cluster with CronJob nightly.
func withCronJob(t *testing.T) *clitest.Writes {
	api, template := clitest.NewWrites(t), &batchv1.Job{}
	assert.NoError(t, yaml.Unmarshal([]byte(limited), template))
	api.API.CronJobs = []*batchv1.CronJob{{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns1", Name: "nightly", UID: "u"},
		Spec:       batchv1.CronJobSpec{Schedule: "0 3 * * *", JobTemplate: batchv1.JobTemplateSpec{Spec: template.Spec}},
	}}
	return api
}

// end sets the status of Jobs that were created and run: the first status if their memory is 1Gi.
func end(small, others string) func(*clitest.Writes) {
	return func(api *clitest.Writes) {
		for _, name := range []string{"train", "train-retry-1", "manual"} {
			job := api.Job(name)
			if job == nil || !strings.HasPrefix(string(job.GetUID()), "created") {
				continue
			}
			suspended, _, _ := unstructured.NestedBool(job.Object, "spec", "suspend")
			if _, ended, _ := unstructured.NestedSlice(job.Object, "status", "conditions"); suspended || ended {
				continue
			}
			status := others
			if strings.Contains(fmt.Sprint(job.Object["spec"]), "memory:1Gi") {
				status = small
			}
			fields := map[string]any{}
			_ = yaml.Unmarshal([]byte(status), &fields)
			job.Object["status"] = fields
			if status == hasFailed {
				api.Pods.Put(outOfMemory(job))
			}
			api.API.Put(job)
		}
	}
}

// endPods ends the pods of suspended Jobs.
func endPods(api *clitest.Writes) {
	job := api.Job("train")
	if suspended, _, _ := unstructured.NestedBool(job.Object, "spec", "suspend"); suspended {
		_ = unstructured.SetNestedField(job.Object, int64(0), "status", "active")
		_ = unstructured.SetNestedSlice(job.Object, []any{map[string]any{"type": "Suspended", "status": "True"}}, "status", "conditions")
		api.API.Put(job)
	}
}

// verb returns a function that runs a command line.
func verb(line string) func(t *testing.T, ctx context.Context, api *clitest.Writes) (string, error) {
	return func(t *testing.T, ctx context.Context, api *clitest.Writes) (string, error) {
		var out bytes.Buffer
		err := execute(ctx, t, api, line, &out)
		return out.String(), err
	}
}

// execute runs a command line with job.yaml in its folder.
func execute(ctx context.Context, t *testing.T, api *clitest.Writes, line string, out io.Writer) error {
	t.Setenv("KUBECONFIG", clitest.WriteKubeconfig(t, api.API.URL()))
	t.Chdir(t.TempDir()) // run --replace writes a bundle.
	assert.NoError(t, os.WriteFile("job.yaml", []byte(limited), 0o600))
	ctx, cancel := context.WithTimeout(ctx, clitest.Patience)
	defer cancel()
	err := program.Execute(ctx, strings.Fields(line), genericiooptions.IOStreams{In: strings.NewReader(""), Out: out, ErrOut: out}, clitest.NewEnv())
	cmdutil.PrintError(out, err)
	return err
}

// suspendedOnCancel returns a function that runs train until it is running, and interrupts it. It succeeds if nothing is left to do.
func suspendedOnCancel() func(t *testing.T, ctx context.Context, api *clitest.Writes) (string, error) {
	return func(t *testing.T, ctx context.Context, api *clitest.Writes) (string, error) {
		if job := api.Job("train"); job != nil { // The user has read what is left, and suspends it.
			err := unstructured.SetNestedField(job.Object, true, "spec", "suspend")
			api.API.Put(job)
			return "", err
		}
		ctx, interrupt := context.WithCancel(ctx)
		defer interrupt()
		out := &alarm{word: "train  Running", ring: interrupt}
		err := execute(ctx, t, api, "run -f job.yaml --on-cancel suspend", out)
		if cmdutil.ExitCode(err) == cmdutil.ExitInterrupted && strings.Contains(out.String(), "Interrupted: suspended") {
			err = nil
		}
		return out.String(), err
	}
}

// alarm is output that rings when it has a word.
type alarm struct {
	leash.Output
	word string
	ring func()
}

func (a *alarm) Write(p []byte) (int, error) {
	n, err := a.Output.Write(p)
	if strings.Contains(a.String(), a.word) {
		a.ring()
	}
	return n, err
}

// Every verb that writes Jobs is tried with lost answers, conflicts, without permission, and with Ctrl-C, at each of its writes.
// Requirements: CLI-81, RTY-27, RTY-47, RTY-48, RUN-19, RUN-20, CLN-04, CLN-05
func TestFaultsAtEachWrite(t *testing.T) {
	// Without an answer, a creation is looked for by its ID, and a deletion and a change are repeated.
	const creation = "lost request at create jobs"
	oom, running := stored(t, "train", "old:1", hasFailed), stored(t, "train", "old:1", isRunning)
	for line, path := range map[string]clitest.WritingPath{
		"create --from cronjob/nightly --name manual": {New: withCronJob, Names: "manual", Fails: "lost (request|answer) at create jobs"},
		"run --from cronjob/nightly --name manual":    {New: withCronJob, React: end(hasCompleted, ""), Names: "manual"},
		"run -f job.yaml --replace": { // The first creation is a dry run.
			New: withJobs(oom), React: end(hasCompleted, ""), Names: "train", Fails: "lost (request|answer) at create jobs",
		},
		"run -f job.yaml --retry 1 --on-oom memory=x2,max=4Gi": {
			New: withJobs(), React: end(hasFailed, hasCompleted), Again: verb("run -f job.yaml --replace --retry 1 --on-oom memory=x2,max=4Gi"), Names: "job.batch/train",
		},
		"run -f job.yaml --on-cancel suspend": {New: withJobs(), Run: suspendedOnCancel(), Names: "job.batch/train"},
		"retry train":                         {New: withJobs(oom), Names: "train-retry-1", Fails: creation},
		"retry train --memory x2":             {New: withJobs(oom), Names: "train-retry-1", Fails: creation},
		"retry train --memory x2 --replace":   {New: withJobs(running), Again: deleteOr("retry train --memory x2 --replace"), Names: "train-retry-1", Fails: creation},
		"retry train --memory x2 --in-place": {
			New: withJobs(running), React: endPods, Again: either("retry train --in-place", "retry train --in-place --memory x2"),
			Names: "kubectl batchjob retry train --in-place -n ns1",
		},
		"clean --yes --cascade=background": {New: withJobs(stored(t, "done-1", "old:1", hasCompleted), stored(t, "done-2", "old:1", hasCompleted)), Names: "done-1"},
	} {
		if path.Run == nil {
			path.Run = verb(line)
		}
		t.Run(line, path.Try)
	}
}

// either runs the second command line if the first fails.
func either(first, second string) func(t *testing.T, ctx context.Context, api *clitest.Writes) (string, error) {
	return func(t *testing.T, ctx context.Context, api *clitest.Writes) (string, error) {
		out, err := verb(first)(t, ctx, api)
		if err == nil {
			return out, nil
		}
		more, err := verb(second)(t, ctx, api)
		return out + more, err
	}
}

// deleteOr deletes train if its replacement runs, as an error asks for, and else runs the command line: a replacement that the server has
// stored after the program looked for it is suspended.
func deleteOr(line string) func(t *testing.T, ctx context.Context, api *clitest.Writes) (string, error) {
	return func(t *testing.T, ctx context.Context, api *clitest.Writes) (string, error) {
		made := api.Job("train-retry-1")
		if made == nil {
			return verb(line)(t, ctx, api)
		}
		if suspended, _, _ := unstructured.NestedBool(made.Object, "spec", "suspend"); suspended {
			return verb(line)(t, ctx, api)
		}
		api.API.Remove(api.Job("train"))
		return "", nil
	}
}
