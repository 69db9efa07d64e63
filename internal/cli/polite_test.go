package cli

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/clitest"
)

// readingVerbs are command lines of the verbs that read from a cluster once, and a part of their output. Job train of
// namespace ns1 has failed, and so has its pod train-a; JOB and NEW are files.
var readingVerbs = []struct{ args, prints string }{
	{"status", "train"},
	{"status train", "exited with code 42"},
	{"status train -o wide", "Corrupt"},
	{"status --problems", "train"},
	{"status cronjob/nightly", "every day at 03:00"},
	{"status --by-owner", "train"},
	{"why train", "bad checksum"},
	{"why train -o json", "train-a"},
	{"why -l app=train", "exited with code 42"},
	{"wait train", "exited with code 42"},
	{"logs train", "bad checksum"},
	{"logs train -f", "bad checksum"},
	{"logs pod/train-a", "bad checksum"},
	{"logs -l app=train", "bad checksum"},
	{"retry train --dry-run=client", "train-retry-1"},
	{"clean", "train  Failed"},
	{"clean -o json --failed", "Corrupt"},
	{"what-if train --set backoffLimit=1", "train"},
	{"simulate -f JOB --from train", "failed after"},
	{"bundle train -f NEW", "NEW"},
	{"__complete status ", "train\n"},
	{"__complete status cronjob/", ":4\n"},
	{"__complete why train --pod ", "train-a\n"},
	{"__complete why train --index ", ":36\n"},
	{"__complete logs pod/", "train-a\n"},
	{"__complete logs train --container ", ":4\n"},
	{"__complete status --namespace ", ":4\n"},
}

// nightly is a CronJob that starts Jobs at 03:00.
var nightly = &batchv1.CronJob{ObjectMeta: metav1.ObjectMeta{Namespace: "ns1", Name: "nightly"}, Spec: batchv1.CronJobSpec{Schedule: "0 3 * * *"}}

// readOnce runs one of the readingVerbs, and returns its result and its requests.
func readOnce(t *testing.T, args string, refuse func(*http.Request) *clitest.Status) (got clitest.Result, asked []string) {
	t.Helper()
	train := clitest.ExplainedJob("ns1", "train")
	train.SetLabels(map[string]string{"app": "train"})
	objects := clitest.NewObjects(t, train)
	pod := clitest.EndedPod(train, "train-a", 42, "table is corrupt")
	pod.Spec.Containers = []corev1.Container{{Name: "main"}}
	objects.Pods.WithLog(pod, "reading", "bad checksum")
	objects.API.CronJobs = []*batchv1.CronJob{nightly}
	objects.API.SetRefuse(refuse)
	dir := t.TempDir()
	manifest := `{apiVersion: batch/v1, kind: Job, metadata: {name: new}, spec: {template: {spec: {restartPolicy: Never, containers: [{name: main, image: x}]}}}}`
	assert.NoError(t, os.WriteFile(filepath.Join(dir, "JOB"), []byte(manifest), 0o600))
	t.Chdir(dir)
	got = program.Run(t, objects.API, strings.Split(args, " ")...)
	return got, objects.Queries("")
}

// outsideNS1 refuses everything outside namespace ns1, except what any user may read.
func outsideNS1(r *http.Request) *clitest.Status {
	switch path := r.URL.Path; {
	case strings.Contains(path, "/namespaces/ns1/"), path == "/version", path == "/livez", strings.HasSuffix(path, "/selfsubjectaccessreviews"):
		return nil
	}
	return forbidden("no RBAC rule outside ns1")
}

// POL-02 to POL-05: a verb that reads once opens no watch, lists only pods of its Jobs (the fake API fails a test
// that lists others), in pages, and prints the same to users who may read nothing but a namespace: it omits nodes,
// Leases and namespaces.
// Requirements: POL-03, POL-04
func TestReadingVerbsNeedOneNamespace(t *testing.T) {
	for _, verb := range readingVerbs {
		t.Run(verb.args, func(t *testing.T) {
			want, _ := readOnce(t, verb.args, nil)
			got, asked := readOnce(t, verb.args, outsideNS1)
			if got.Code != want.Code || !strings.Contains(got.Out, verb.prints) || strings.Contains(got.Out+got.ErrOut, "no RBAC rule") {
				t.Errorf("exit %d, want %d with %q\n%s%s", got.Code, want.Code, verb.prints, got.Out, got.ErrOut)
			}
			for _, query := range asked {
				isList := strings.Contains(query, "/pods?") || strings.Contains(query, "/events?")
				if strings.Contains(query, "watch=true") || isList && !strings.Contains(query, "limit=") || strings.HasPrefix(query, "/api/v1/pods") {
					t.Errorf("asked for %s", query)
				}
			}
		})
	}
}

// POL-02 to POL-04: verbs that follow a Job watch it, its pods and its events in its namespace, and need no more. They only read.
// Requirements: CLI-09, POL-03
func TestFollowingVerbsNeedOneNamespace(t *testing.T) {
	for _, verb := range followingVerbs {
		t.Run(verb.args, func(t *testing.T) {
			f := follow(t, verb.args, outsideNS1, nil)
			f.untilFollowing()
			f.finish()
			if code := f.end(verb.shown); code != 0 && verb.shown == "" || strings.Contains(f.ErrOut.String(), "RBAC") {
				t.Errorf("exit %d\n%s%s", code, f.Out.String(), f.ErrOut.String())
			}
			assert.DeepEqual(t, f.objects.Methods(), map[string]bool{http.MethodGet: true})
		})
	}
}

// POL-04: a user who may read only one namespace gets a hint to use -n instead of -A.
func TestAllNamespacesAreRefusedWithAWayOut(t *testing.T) {
	for _, args := range []string{"status -A", "why -A -l app=train", "watch -A --plain", "status -A -w", "wait -A -l app=train", "clean -A"} {
		got, _ := readOnce(t, args, outsideNS1)
		got.Want(t, 1, "", "you may not list jobs in all namespaces", "or choose a namespace with -n")
	}
}
