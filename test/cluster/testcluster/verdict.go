package testcluster

import (
	"context"
	"flag"
	"fmt"
	"iter"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/batchjob-dev/kubectl-batchjob/test/cluster/history/follow"
	"github.com/batchjob-dev/kubectl-batchjob/test/cluster/invariants"
)

// verdict ends a test run: it checks the whole history, and returns the violations.
func (c *Cluster) verdict(ctx context.Context, shared *Process) []string {
	var problems []string
	if err := c.complete(ctx); err != nil {
		return append(problems, fmt.Sprintf("the history is not complete: %v", err))
	}
	c.settle()
	if code, err := shared.End(); err != nil || code != 0 {
		problems = append(problems, fmt.Sprintf("the shared controller ended with %d, %v:\n%s", code, err, shared.Stderr.String()))
	}
	if err := c.complete(ctx); err != nil {
		return append(problems, fmt.Sprintf("the history is not complete: %v", err))
	}
	for _, namespace := range c.Past.Namespaces() {
		problems = append(problems, c.Audit(namespace, c.Past.In(namespace))...)
	}
	if runsAll() {
		problems = append(problems, c.auditor.territory.Missing()...)
	}
	fmt.Println(c.name+": Jobs seen:", c.auditor.territory)
	fmt.Println(c.name+": violations excused by the requests for pods:", c.auditor.excused)
	problems = append(problems, c.rejectedWrites(ctx)...)
	for _, p := range c.Launched() {
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
func (c *Cluster) settle() {
	deadline := time.NewTimer(Patience)
	defer deadline.Stop()
	for {
		changed, _ := c.Past.Changes()
		atRest := true
		for _, namespace := range c.Past.Namespaces() {
			atRest = atRest && len(invariants.AtRest(c.Past.In(namespace))) == 0
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

// Answers returns the number of the API server's responses to status writes of Jobs, by code.
func (c *Cluster) Answers(ctx context.Context) (map[string]int, error) {
	text, err := c.Client.CoreV1().RESTClient().Get().AbsPath("/metrics").DoRaw(ctx)
	if err != nil {
		return nil, fmt.Errorf("reading the metrics of the API server: %w", err)
	}
	codes := map[string]int{}
	for series, n := range Series(string(text)) {
		if !strings.HasPrefix(series, "apiserver_request_total{") || !strings.Contains(series, `resource="jobs"`) || !strings.Contains(series, `subresource="status"`) {
			continue
		}
		if m := codeLabel.FindStringSubmatch(series); m != nil {
			codes[m[1]] += int(n)
		}
	}
	return codes, nil
}

// Series returns the series of metrics in Prometheus's text format, with their values.
func Series(text string) iter.Seq2[string, float64] {
	return func(yield func(string, float64) bool) {
		for line := range strings.Lines(text) {
			line = strings.TrimSpace(line)
			at := strings.LastIndex(line, " ")
			value, err := strconv.ParseFloat(line[at+1:], 64)
			if err == nil && at > 0 && line[0] != '#' && !yield(line[:at], value) {
				return
			}
		}
	}
}

var codeLabel = regexp.MustCompile(`code="(\d+)"`)

// rejectedWrites returns a problem if the API server has rejected status writes.
func (c *Cluster) rejectedWrites(ctx context.Context) []string {
	codes, err := c.Answers(ctx)
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

// complete waits until the history has the present version of every Job and pod.
func (c *Cluster) complete(ctx context.Context) error {
	var behind []string
	err := wait.PollUntilContextTimeout(ctx, 50*time.Millisecond, Patience, true, func(ctx context.Context) (done bool, err error) {
		behind, err = follow.Behind(ctx, c.Client, metav1.NamespaceAll, c.Past)
		return len(behind) == 0, err
	})
	if err != nil {
		return fmt.Errorf("%w: %q", err, behind)
	}
	return nil
}
