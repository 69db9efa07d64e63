package cli

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
)

// ownedBy says whose the Job is.
func ownedBy(job *unstructured.Unstructured, kind, name string) *unstructured.Unstructured {
	job.Object["metadata"].(map[string]any)["ownerReferences"] = []any{map[string]any{
		"apiVersion": "batch/v1", "kind": kind, "name": name, "uid": "u", "controller": true,
	}}
	return job
}

func namesOf(t *testing.T, out string) (names []string, list explain.ReportList) {
	t.Helper()
	if err := json.Unmarshal([]byte(out), &list); err != nil {
		t.Fatalf("%v in %q", err, out)
	}
	if list.Kind != "JobExplanationList" || list.APIVersion != "batchjob.dev/v1alpha1" {
		t.Errorf("%s %s", list.APIVersion, list.Kind)
	}
	for i := range list.Items {
		names = append(names, list.Items[i].Job.Namespace+"/"+list.Items[i].Job.Name)
	}
	return names, list
}

// CLI-04: which Jobs are explained: by names, labels, owners, in one namespace or in all.
func TestExplainSeveral_CLI_04(t *testing.T) {
	inSet := explainedJob("ns1", "set-worker")
	inSet.SetLabels(map[string]string{"app": "set", jobSetLabel: "set"})
	o := newExplained(t, ownedBy(explainedJob("ns1", "nightly-1"), "CronJob", "nightly"), ownedBy(explainedJob("ns1", "nightly-2"), "CronJob", "nightly"), inSet, explainedJob("ns2", "other"))
	for args, want := range map[string]string{
		"train set-worker":                 "ns1/train ns1/set-worker",
		"train train job/train set-worker": "ns1/train ns1/set-worker",
		"cronjob/nightly":                  "ns1/nightly-1 ns1/nightly-2",
		"jobset/set cj/nightly":            "ns1/set-worker ns1/nightly-1 ns1/nightly-2",
		"train cronjob/nightly":            "ns1/train ns1/nightly-1 ns1/nightly-2",
		"nightly-1 cronjob/nightly":        "ns1/nightly-1 ns1/nightly-2",
		"-l app=train":                     "ns1/train",
		"-l app":                           "ns1/nightly-1 ns1/nightly-2 ns1/set-worker ns1/train",
		"-A -l app!=train":                 "ns1/nightly-1 ns1/nightly-2 ns1/set-worker ns2/other",
		"-n ns2 -l app=other":              "ns2/other",
		"-l app=nobody":                    "",
	} {
		got := program.run(t, o.api, append([]string{"explain-failure", "-o", "json"}, strings.Fields(args)...)...)
		names, _ := namesOf(t, got.out)
		if got.code != 0 || strings.Join(names, " ") != want {
			t.Errorf("%s: exit %d, %q, want %q; %s", args, got.code, names, want, got.errOut)
		}
	}
	text := program.run(t, o.api, "explain-failure", "cronjob/nightly")
	if text.code != 0 || !strings.Contains(text.out, "2 failures, 1 cause") || !strings.Contains(text.out, "nightly-2") {
		t.Errorf("exit %d, %s", text.code, text.out)
	}
}

// Jobs that do not exist are told after the answer on the others; none at all is no error.
func TestExplainMissing_CLI_04(t *testing.T) {
	o := newExplained(t, explainedJob("ns1", "second"))
	got := program.run(t, o.api, "explain-failure", "absent", "train", "second", "cronjob/absent")
	if got.code != exitError || !strings.Contains(got.out, "train") || !strings.Contains(got.out, "second") || strings.Count(got.errOut, "\n") != 2 ||
		!strings.Contains(got.errOut, `job "absent" not found in namespace "ns1"`) || !strings.Contains(got.errOut, `CronJob "absent" has no Jobs in namespace "ns1"`) {
		t.Errorf("exit %d, stderr %q, stdout %q", got.code, got.errOut, got.out)
	}
	for _, args := range []string{"absent", "absent -o json", "jobset/absent", "train -n ns2"} {
		got := program.run(t, o.api, append([]string{"explain-failure"}, strings.Fields(args)...)...)
		if got.code != exitError || got.out != "" || strings.Count(got.errOut, "\n") != 1 || kindOf(got.err) != kindNotFound {
			t.Errorf("%s: exit %d, %q, %q", args, got.code, got.out, got.errOut)
		}
	}
	for args, want := range map[string]string{"-l app=none": "No jobs found in ns1 namespace.\n", "-A -l app=none": "No jobs found.\n"} {
		got := program.run(t, o.api, append([]string{"explain-failure"}, strings.Fields(args)...)...)
		if got.code != 0 || got.out != "" || got.errOut != want {
			t.Errorf("%s: exit %d, %q, %q", args, got.code, got.out, got.errOut)
		}
	}
	o.refusePath("/jobs", 403, "Forbidden")
	got = program.run(t, o.api, "explain-failure", "-l", "app=train")
	if got.code != exitError || got.out != "" || !strings.Contains(got.errOut, "you may not list jobs") {
		t.Errorf("exit %d, %q, %q", got.code, got.out, got.errOut)
	}
}

// Ctrl-C ends it at once, with exit code 130 and no half answer.
func TestExplainInterrupted_CLI_04(t *testing.T) {
	for _, args := range [][]string{{"explain-failure", "train"}, {"explain-failure", "-l", "app"}, {"status", "train"}} {
		o := newExplained(t)
		arrived, release := make(chan struct{}, 10), make(chan struct{})
		o.api.setRefuse(func(r *http.Request) *fakeStatus {
			if strings.HasSuffix(r.URL.Path, "/pods") {
				arrived <- struct{}{}
				select {
				case <-release:
				case <-r.Context().Done():
				}
			}
			return nil
		})
		s := program.start(t, o.api, testEnvironment(), args...)
		<-arrived
		s.interrupt()
		if code := s.end(); code != exitInterrupted || s.out.String() != "" || s.errOut.String() != "" {
			t.Errorf("%v: exit %d, %q, %q", args, code, s.out.String(), s.errOut.String())
		}
		close(release)
	}
}

// A server that dies after it has given the Job leaves what the Job itself tells.
func TestExplainServerDies_CLI_06(t *testing.T) {
	o := newExplained(t)
	o.api.setRefuse(func(r *http.Request) *fakeStatus {
		if !strings.Contains(r.URL.Path, "/jobs") {
			_ = o.api.server.Listener.Close()
			panic(http.ErrAbortHandler)
		}
		return nil
	})
	got := program.run(t, o.api, "explain-failure", "train")
	if got.code != 0 || !strings.Contains(got.out, `rule 0 "Corrupt"`) || !strings.Contains(got.out, "Pods could not be read") || strings.Contains(got.out, "is gone") {
		t.Errorf("exit %d, stderr %q, stdout:\n%s", got.code, got.errOut, got.out)
	}
	if strings.Count(got.out, "could not be read: Get") > 2 {
		t.Errorf("the same is said of everything:\n%s", got.out)
	}
	if got := program.run(t, o.api, "explain-failure", "train"); got.code != exitError || got.out != "" || strings.Count(got.errOut, "\n") != 1 || !strings.Contains(got.errOut, "cannot reach the API server") {
		t.Errorf("without a server: exit %d, %q", got.code, got.errOut)
	}
}

// Pods come in pages, with those of others among them; a token that has expired on the way
// changes nothing.
func TestExplainPages_CLI_04(t *testing.T) {
	for _, expires := range []bool{false, true} {
		o := newExplained(t)
		train := explainedJob("ns1", "train")
		for i := range 599 {
			o.pods.put(endedPod(train, fmt.Sprintf("train-%03d", i), 42, ""))
		}
		stranger := endedPod(explainedJob("ns1", "other"), "stranger", 9, "")
		stranger.Labels = map[string]string{"job": "train"}
		o.pods.put(stranger)
		if expires {
			o.api.setRefuse(func(r *http.Request) *fakeStatus {
				if r.URL.Query().Get("continue") != "" {
					return &fakeStatus{410, "Expired", "The provided continue parameter is too old"}
				}
				return nil
			})
		}
		got := program.run(t, o.api, "explain-failure", "train", "-o", "json", "--log-lines=0")
		var r explain.Report
		if err := json.Unmarshal([]byte(got.out), &r); err != nil {
			t.Fatal(err)
		}
		if r.Counts.Pods == nil || *r.Counts.Pods != 600 || len(r.Causes) != 1 || r.Causes[0].Count != 600 || len(r.Gaps) != 0 {
			t.Errorf("expires %v: %+v, %d causes, %+v", expires, r.Counts, len(r.Causes), r.Gaps)
		}
		if len(r.Pods) != 600 || r.PodsOmitted != 0 { // JSON is for programs: all of them.
			t.Errorf("%d pods are listed, %d are not", len(r.Pods), r.PodsOmitted)
		}
	}
}

// Events of Job train-2 are not told of Job train.
func TestExplainEventsOfOthers_CLI_04(t *testing.T) {
	second := explainedJob("ns1", "train-2")
	o := newExplained(t, second)
	o.pods.put(endedPod(second, "train-2-xk2p9", 1, ""))
	foreign := o.events[0].DeepCopy()
	foreign.Name, foreign.Reason, foreign.InvolvedObject = "e2", "ForeignTrouble", corev1.ObjectReference{Kind: "Pod", Name: "train-2-xk2p9", UID: "uid-train-2-xk2p9"}
	o.events = append(o.events, foreign)
	if got := program.run(t, o.api, "explain-failure", "train"); strings.Contains(got.out, "ForeignTrouble") {
		t.Errorf("%s", got.out)
	}
	if got := program.run(t, o.api, "explain-failure", "train-2"); !strings.Contains(got.out, "ForeignTrouble") {
		t.Errorf("%s", got.out)
	}
}

// Jobs are read four at a time, and told in their order.
func TestExplainKeepsOrder_CLI_04(t *testing.T) {
	var jobs []*unstructured.Unstructured
	var want []string
	for i := range 30 {
		jobs = append(jobs, explainedJob("ns1", fmt.Sprintf("job-%02d", i)))
		want = append(want, fmt.Sprintf("ns1/job-%02d", i))
	}
	slices.Reverse(jobs)
	o := newFakeObjects(t, jobs...)
	names, list := namesOf(t, program.run(t, o.api, "explain-failure", "-l", "app", "-o", "json").out)
	if !slices.Equal(names, want) || len(list.Causes) != 1 || list.Causes[0].Count != 30 {
		t.Errorf("%q, %+v", names, list.Causes)
	}
}
