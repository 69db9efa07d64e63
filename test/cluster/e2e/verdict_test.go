package e2e

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/batchjob-dev/kubectl-batchjob/test/cluster/invariants"
)

// verdict ends a test run: it checks the whole history, and returns the violations.
func verdict(ctx context.Context, shared *process) []string {
	var problems []string
	if err := past.complete(ctx); err != nil {
		return append(problems, fmt.Sprintf("the history is not complete: %v", err))
	}
	past.settle()
	if code, err := shared.End(); err != nil || code != 0 {
		problems = append(problems, fmt.Sprintf("the shared controller ended with %d, %v:\n%s", code, err, shared.Stderr.String()))
	}
	if err := past.complete(ctx); err != nil {
		return append(problems, fmt.Sprintf("the history is not complete: %v", err))
	}
	for _, namespace := range past.namespaces() {
		problems = append(problems, audits.audit(namespace, past.in(namespace))...)
	}
	if runsAll() {
		problems = append(problems, audits.territory.Missing()...)
	}
	fmt.Println("e2e: Jobs seen:", audits.territory)
	fmt.Println("e2e: violations excused by the requests for pods:", audits.excused)
	problems = append(problems, rejectedWrites(ctx)...)
	for _, p := range launched() {
		problems = append(problems, badLines(p.Stderr.String())...)
	}
	return problems
}

// runsAll reports whether all tests run, so that there must be Jobs of every kind.
func runsAll() bool {
	given := false
	flag.Visit(func(f *flag.Flag) {
		given = given || slices.Contains([]string{"test.run", "test.skip", "test.list"}, f.Name)
	})
	return !given
}

// settle gives controllers time to release the pods of the last tests.
func (h *chronicle) settle() {
	deadline := time.NewTimer(patience)
	defer deadline.Stop()
	for {
		changed, _ := h.changes()
		atRest := true
		for _, namespace := range h.namespaces() {
			atRest = atRest && len(invariants.AtRest(h.in(namespace))) == 0
		}
		if atRest {
			return
		}
		select {
		case <-changed:
		case <-deadline.C:
			return // The verdict reports the problem.
		}
	}
}

// answers returns the number of the API server's responses to status writes of Jobs, by code.
func answers(ctx context.Context) (map[string]int, error) {
	text, err := client.CoreV1().RESTClient().Get().AbsPath("/metrics").DoRaw(ctx)
	if err != nil {
		return nil, fmt.Errorf("reading the metrics of the API server: %w", err)
	}
	codes := map[string]int{}
	for line := range strings.Lines(string(text)) {
		if !strings.HasPrefix(line, "apiserver_request_total{") || !strings.Contains(line, `resource="jobs"`) || !strings.Contains(line, `subresource="status"`) {
			continue
		}
		n := 0.0
		if _, err := fmt.Sscanf(line[strings.LastIndex(line, " "):], "%g", &n); err != nil {
			return nil, fmt.Errorf("reading %q: %w", line, err)
		}
		if m := codeLabel.FindStringSubmatch(line); m != nil {
			codes[m[1]] += int(n)
		}
	}
	return codes, nil
}

var codeLabel = regexp.MustCompile(`code="(\d+)"`)

// rejectedWrites returns a problem if the API server has rejected status writes.
func rejectedWrites(ctx context.Context) []string {
	codes, err := answers(ctx)
	switch {
	case err != nil:
		return []string{err.Error()}
	case len(codes) == 0 && runsAll():
		return []string{"the API server's metrics know of no status write"}
	case codes["422"] > 0:
		return []string{fmt.Sprintf("STV-25: the API server has rejected %d statuses", codes["422"])}
	}
	return nil
}

// badLine matches what a controller must never log: a status that the API server rejects (JOB.batch "x" is invalid:
// [status.y: …), or a panic.
var badLine = regexp.MustCompile(`is invalid: \[?status|panic`)

func badLines(log string) (problems []string) {
	for line := range strings.Lines(log) {
		if badLine.MatchString(line) {
			problems = append(problems, "STV-25: the log of a controller says: "+strings.TrimSpace(line))
		}
	}
	return problems
}

// complete waits until the history shows the present version of every Job and pod.
func (h *chronicle) complete(ctx context.Context) error {
	var missing string
	err := wait.PollUntilContextTimeout(ctx, 50*time.Millisecond, patience, true, func(ctx context.Context) (bool, error) {
		if _, broken := h.changes(); broken != nil {
			return false, broken
		}
		jobs, err := client.BatchV1().Jobs("").List(ctx, metav1.ListOptions{})
		if err != nil {
			return false, err
		}
		pods, err := client.CoreV1().Pods("").List(ctx, metav1.ListOptions{})
		if err != nil {
			return false, err
		}
		missing = ""
		for i := range jobs.Items {
			missing += h.lacks(&jobs.Items[i])
		}
		for i := range pods.Items {
			missing += h.lacks(&pods.Items[i])
		}
		return missing == "", nil
	})
	if err != nil {
		return errors.Join(err, errors.New(missing))
	}
	return nil
}

// lacks returns the object's name if the history does not contain this version, or "".
func (h *chronicle) lacks(o metav1.Object) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, v := range slices.Backward(h.versions[o.GetNamespace()]) {
		if v.Object().GetUID() == o.GetUID() && v.Object().GetResourceVersion() == o.GetResourceVersion() {
			return ""
		}
	}
	return o.GetNamespace() + "/" + o.GetName() + " "
}
