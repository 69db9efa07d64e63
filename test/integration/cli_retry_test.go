package integration

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/retry"
)

// failsAt has the pods of these indexes of Job a fail; in its retries, all succeed.
func failsAt(indexes ...string) outcome {
	return func(pod *corev1.Pod, _ int) corev1.PodPhase {
		for _, index := range indexes {
			if metav1.GetControllerOf(pod).Name == "a" && pod.Annotations[batchv1.JobCompletionIndexAnnotation] == index {
				return corev1.PodFailed
			}
		}
		return corev1.PodSucceeded
	}
}

// readJob returns nil for a Job that does not exist.
func (f *fixture) readJob(name string) *batchv1.Job {
	f.t.Helper()
	job, err := f.client.BatchV1().Jobs(f.namespace).Get(f.t.Context(), name, metav1.GetOptions{})
	if err != nil {
		return nil
	}
	return job
}

func (f *fixture) untilEndsAs(name string, as batchv1.JobConditionType) *batchv1.Job {
	f.t.Helper()
	f.until(name+" is "+string(as), func() bool {
		job := f.readJob(name)
		return job != nil && reconcile.FinishedCondition(job) == as
	})
	return f.readJob(name)
}

// ranIndexes are the indexes of the pods of a Job, in the order of their names.
func (f *fixture) ranIndexes(job string) string {
	f.t.Helper()
	list, err := f.client.CoreV1().Pods(f.namespace).List(f.t.Context(), metav1.ListOptions{LabelSelector: batchv1.JobNameLabel + "=" + job})
	if err != nil {
		f.t.Fatal(err)
	}
	var indexes []string
	for i := range list.Items {
		indexes = append(indexes, list.Items[i].Annotations[batchv1.JobCompletionIndexAnnotation])
	}
	return strings.Join(indexes, " ")
}

// Issue 18: exactly the missing indexes run again, with either controller, and the Job completes.
func TestRetryRunsTheMissingIndexes(t *testing.T) {
	for _, builtin := range []bool{false, true} {
		t.Run(fmt.Sprintf("builtin=%v", builtin), func(t *testing.T) {
			f := newFixture(t)
			f.tolerated = []string{"S6"} // The retry counts indexes as completed that no pod of its own completed.
			options := []jobOption{indexed(6), parallelism(6), perIndexLimit(0), onNode}
			if builtin {
				options = append(options, managedBy(""))
				startBuiltin(t, "job-controller")
			} else {
				f.startController()
			}
			f.create(newJob(options...))
			f.kubelet.play(failsAt("2", "4"))
			f.untilEndsAs("a", batchv1.JobFailed)

			f.startPlugin("retry", "a").wantEnd(cmdutil.ExitDone, "job.batch/a-retry-1 created\n", "It runs 2 indexes (2,4); the other 4 indexes count as completed.")
			made := f.untilEndsAs("a-retry-1", batchv1.JobComplete)
			if made.Status.Succeeded != 6 || made.Status.CompletedIndexes != "0-5" || f.ranIndexes("a-retry-1") != "2 4" {
				t.Errorf("%+v, ran %s", made.Status, f.ranIndexes("a-retry-1"))
			}
			f.startPlugin("retry", "a").wantEnd(cmdutil.ExitError, "", "nothing is missing: job.batch/a-retry-1 has completed what a did not")
			f.startPlugin("retry", "job/a", "--indexes", "0").wantEnd(cmdutil.ExitDone, "job.batch/a-retry-2 created\n", "It runs index 0;")
			f.untilEndsAs("a-retry-2", batchv1.JobComplete)
			if ran := f.ranIndexes("a-retry-2"); ran != "0" {
				t.Errorf("ran %s", ran)
			}
			for _, job := range []string{"a", "a-retry-1", "a-retry-2"} { // RTY-20
				f.startPlugin("explain-failure", job).wantEnd(cmdutil.ExitDone, "Family: complete, by a-retry-1", "")
			}
			f.startPlugin("explain-failure", "a").wantEnd(cmdutil.ExitDone, "Indexes 2,4 failed in a (exit code 1); completed in a-retry-1.", "")
		})
	}
}

// interrupting is a proxy that breaks one write, before or after the API server has it.
type interrupting struct {
	*httptest.Server
	left  atomic.Int64 // writes until then
	after bool
}

func startInterrupting(t *testing.T, write int64, after bool) *interrupting {
	t.Helper()
	target, err := url.Parse(apiServer.config.Host)
	if err != nil {
		t.Fatal(err)
	}
	transport, err := rest.TransportFor(apiServer.config)
	if err != nil {
		t.Fatal(err)
	}
	i := &interrupting{after: after}
	i.left.Store(write)
	forward := &httputil.ReverseProxy{Transport: transport, Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target) }}
	i.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		writes := r.Method != http.MethodGet && !strings.Contains(r.URL.Path, "selfsubject")
		if !writes || i.left.Add(-1) != 0 {
			forward.ServeHTTP(w, r)
			return
		}
		if i.after {
			forward.ServeHTTP(httptest.NewRecorder(), r)
		}
		panic(http.ErrAbortHandler) // No answer.
	}))
	t.Cleanup(i.Close)
	return i
}

// Issue 18: interrupted at any of its calls, a retry leaves nothing or a suspended Job without pods, which the next one
// replaces; or its answer alone was lost, and it runs what it should.
func TestInterruptedRetry(t *testing.T) {
	t.Parallel()
	for write := range int64(3) {
		for _, after := range []bool{false, true} {
			t.Run(fmt.Sprintf("write=%d,after=%v", write+1, after), func(t *testing.T) {
				t.Parallel()
				f := newFixture(t)
				f.tolerated = []string{"S6"} // As above.
				f.startController()
				f.create(newJob(indexed(6), parallelism(6), perIndexLimit(0), onNode))
				f.kubelet.play(failsAt("2", "4"))
				f.untilEndsAs("a", batchv1.JobFailed)

				proxy := startInterrupting(t, write+1, after)
				f.startPlugin("retry", "a", "--server", proxy.URL).end()
				if job := f.readJob("a-retry-1"); job != nil && retry.IsPending(job) {
					if !*job.Spec.Suspend || *job.Spec.Parallelism != 0 || f.ranIndexes(job.Name) != "" {
						t.Errorf("it runs half made: %+v", job.Spec)
					}
				}
				if f.readJob("a-retry-1") == nil || retry.IsPending(f.readJob("a-retry-1")) {
					f.startPlugin("retry", "a").wantEnd(cmdutil.ExitDone, "job.batch/a-retry-1 created\n", "")
				}
				made := f.untilEndsAs("a-retry-1", batchv1.JobComplete)
				if made.Status.Succeeded != 6 || f.ranIndexes("a-retry-1") != "2 4" {
					t.Errorf("%+v, ran %s", made.Status, f.ranIndexes("a-retry-1"))
				}
			})
		}
	}
}
