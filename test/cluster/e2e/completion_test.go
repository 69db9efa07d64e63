package e2e

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// completer runs the real kubectl to complete a command line.
type completer struct{ path string }

func newCompleter(t *testing.T) completer {
	t.Helper()
	script, err := filepath.Abs("../../../krew")
	assert.NoError(t, err)
	path := strings.Join([]string{script, filepath.Dir(binary), filepath.Dir(kubectl), os.Getenv("PATH")}, string(os.PathListSeparator))
	return completer{path}
}

// after returns the completions, followed by cobra's directive.
func (c completer) after(t *testing.T, config string, args ...string) string {
	t.Helper()
	cmd := exec.Command(kubectl, append([]string{"__complete", "batchjob"}, args...)...)
	cmd.Env = append(os.Environ(), "PATH="+c.path, "KUBECONFIG="+config)
	out, err := cmd.Output()
	assert.NoError(t, err, args)
	var words []string
	for line := range strings.Lines(string(out)) {
		word, _, _ := strings.Cut(strings.TrimSpace(line), "\t")
		words = append(words, word)
	}
	return strings.Join(words, " ")
}

// failedJob creates a Job with 4 indexes, of which index 2 fails.
func failedJob(t *testing.T, ns string) {
	t.Helper()
	job := indexedJob(4, 4, map[string]string{"exit-code.2": "1"}, func(s *batchv1.JobSpec) {
		s.BackoffLimitPerIndex = ptr.To[int32](0)
		s.Template.Spec.Containers = append(s.Template.Spec.Containers, corev1.Container{Name: "side", Image: "busybox"})
	})
	job.Name = "train"
	create(t, ns, job)
	finished(t, ns, "train")
}

// kubectl completes `kubectl batchjob` with kubectl_complete-batchjob: names from the cluster, values of flags.
// Requirements: CLI-04
func TestCompletionThroughKubectl(t *testing.T) {
	t.Parallel()
	c, ns := newCompleter(t), namespace(t)
	failedJob(t, ns)
	suspended := func(j *batchv1.Job) { j.Name, j.Spec.Suspend = "evaluate", ptr.To(true) }
	create(t, ns, load(t, "non-indexed.yaml")[0], suspended)
	cron := &batchv1.CronJob{ObjectMeta: metav1.ObjectMeta{Name: "nightly"}, Spec: batchv1.CronJobSpec{
		Schedule: "0 0 1 1 *", JobTemplate: batchv1.JobTemplateSpec{Spec: load(t, "non-indexed.yaml")[0].Spec},
	}}
	if _, err := client.BatchV1().CronJobs(ns).Create(t.Context(), cron, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	var failedPod string
	eventually(t, "the failed pod", func(context.Context) (bool, error) {
		for _, pod := range pods(t, ns, "train") {
			if pod.Status.Phase == corev1.PodFailed {
				failedPod = pod.Name
			}
		}
		return failedPod != "", nil
	})
	for args, want := range map[string]string{
		"status -n NS |":                  "evaluate train :4",
		"status -n NS tr|":                "train :4",
		"status -n NS job/|":              "job/evaluate job/train :4",
		"status -n NS train |":            "evaluate :4",
		"wait -n NS |":                    "evaluate train :4",
		"wait -n NS --for |":              "finished complete failed delete condition=Suspended condition=SuccessCriteriaMet condition=FailureTarget jsonpath= :4",
		"logs -n NS |":                    "evaluate train :4",
		"logs -n NS train --index |":      "2 0 1 3 :36",
		"logs -n NS train -c |":           "main side :4",
		"why -n NS |":                     "evaluate train :4",
		"bundle -n NS |":                  "evaluate train :4",
		"bundle -n NS train |":            ":4",
		"why -n NS cronjob/|":             "cronjob/nightly :4",
		"why -n NS jobset/|":              ":4",
		"why -n NS train --index |":       "2 0 1 3 :36",
		"why -n NS train --pod train-2-|": failedPod + " :36",
		"why --color |":                   "auto always never :4",
		"status -n NS|":                   ns + " :4",
		"status -o js|":                   "json jsonpath jsonpath-as-json jsonpath-file :4",
		"create -f |":                     "json yaml yml :8",
		"lint -f |":                       "json yaml yml :8",
		"expl|":                           "explain-failure :4",
	} {
		words := strings.Split(strings.TrimSuffix(strings.ReplaceAll(args, "NS", ns), "|"), " ")
		if args == "status -n NS|" {
			words = []string{"status", "-n", ns}
		}
		assert.Equal(t, c.after(t, kubeconfig, words...), want, args)
	}
	assert.Equal(t, c.after(t, filepath.Join(t.TempDir(), "absent"), "status", ""), ":4", "without a cluster")
}
