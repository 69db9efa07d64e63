package integration

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/controller"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/rulename"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

const manifestWithNames = `apiVersion: batch/v1
kind: Job
metadata:
  name: named
spec:
  podFailurePolicy:
    rules:
      - action: Ignore
        onPodConditions: [{type: DisruptionTarget}]
      - name: ExitCode2
        action: FailJob
        onExitCodes: {operator: In, values: [2]}
  template:
    spec:
      restartPolicy: Never
      containers: [{name: main, image: i}]
---
apiVersion: batch/v1
kind: CronJob
metadata: {name: nightly}
spec:
  schedule: "0 3 * * *"
  jobTemplate:
    spec:
      podFailurePolicy:
        rules: [{name: Evicted, action: FailJob, onPodConditions: [{type: DisruptionTarget}]}]
      template:
        spec:
          restartPolicy: Never
          containers: [{name: main, image: i}]
---
apiVersion: batch/v1
kind: Job
metadata: {generateName: wrong-}
spec:
  backoffLimit: -1
  template:
    spec:
      restartPolicy: Never
      containers: [{name: main, image: i}]
---
apiVersion: batch/v1
kind: Job
metadata: {name: typo}
spec:
  backofLimit: 1
  template:
    spec:
      restartPolicy: Never
      containers: [{name: main, image: i}]
`

// The manifest of KEP-4443 on an API server that does not know rule names.
// Requirements: PFN-23
func TestCreatedManifestKeepsItsNames(t *testing.T) {
	t.Parallel()
	client := newClient(t, apiServer.Config, "user")
	namespace := newNamespace(t, client)
	flags := []string{"create", "-f", "-", "--kubeconfig", adminKubeconfig(t), "-n", namespace}
	wantErrors := []string{
		"<stdin>:36:17: the API server rejects this: backoffLimit is -1; use 0 or more",
		"<stdin>:46:16: the API server rejects this: batch/v1 has no field spec.backofLimit, did you mean backoffLimit",
	}
	check := func(out, errOut string, code int, suffix string) {
		t.Helper()
		if code != 1 || out != "job.batch/named created"+suffix+"\ncronjob.batch/nightly created"+suffix+"\n" {
			t.Errorf("exit %d, stdout %q", code, out)
		}
		for _, want := range wantErrors {
			assert.Contains(t, errOut, want)
		}
	}
	// A Lease of the controller would be visible to all tests that run in parallel.
	ours := append(flags, "--managed-by="+controller.DefaultManagedBy, "--force")
	out, errOut, code := runPlugin(t, manifestWithNames, append(ours, "--dry-run=server")...)
	check(out, errOut, code, " (server dry run)")
	if list, err := client.BatchV1().Jobs(namespace).List(t.Context(), metav1.ListOptions{}); err != nil || len(list.Items) > 0 {
		t.Fatalf("the dry run created %d Jobs, %v", len(list.Items), err)
	}
	out, errOut, code = runPlugin(t, manifestWithNames, ours...)
	check(out, errOut, code, "")
	job, err := client.BatchV1().Jobs(namespace).Get(t.Context(), "named", metav1.GetOptions{})
	assert.NoError(t, err)
	if job.Annotations[rulename.Annotation] != "1=ExitCode2" || job.Spec.ManagedBy == nil || *job.Spec.ManagedBy != controller.DefaultManagedBy || job.ManagedFields[0].Manager != "kubectl-batchjob" {
		t.Errorf("%v, %v", job.ObjectMeta, job.Spec.ManagedBy)
	}
	cron, err := client.BatchV1().CronJobs(namespace).Get(t.Context(), "nightly", metav1.GetOptions{})
	assert.NoError(t, err)
	if template := cron.Spec.JobTemplate; template.Annotations[rulename.Annotation] != "0=Evicted" || template.Spec.ManagedBy == nil || len(cron.Annotations) > 0 {
		t.Errorf("%v", cron)
	}
	_, errOut, _ = runPlugin(t, manifestWithNames, flags...)
	assert.Contains(t, errOut, `<stdin>:1:1: the API server answered: jobs.batch "named" already exists (AlreadyExists)`)
}
