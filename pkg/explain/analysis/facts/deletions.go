package facts

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
)

// Deletion is an event about pods that the Job's controller deleted: all of their names, or the first ones.
type Deletion struct {
	Pods  []string
	Count int32
	At    time.Time
}

// deletionMessage matches the event SuccessfulDelete of the built-in controller and of ours.
var deletionMessage = regexp.MustCompile(`Deleted (?:pod: (\S+)|(\d+) pods: (.*))`)

// deletions returns the deletions of the Job's controller that events show.
func deletions(events []input.Event) (all []Deletion) {
	for i := range events {
		e := &events[i]
		if e.Pod != "" || e.Reason != "SuccessfulDelete" {
			continue
		}
		switch m := deletionMessage.FindStringSubmatch(e.Message); {
		case m == nil:
		case m[1] != "":
			all = append(all, Deletion{Pods: []string{m[1]}, Count: 1, At: e.First})
		default:
			n, _ := strconv.ParseInt(m[2], 10, 32)
			names, _, _ := strings.Cut(m[3], " and ")
			all = append(all, Deletion{Pods: strings.Split(names, ", "), Count: max(int32(n), 1), At: e.First})
		}
	}
	return all
}

// DeletedByController returns when the Job's controller deleted a pod by its events, if they name it or some of its
// deletions before the time have more pods than they name; and how many pods it deleted.
func (in *Facts) DeletedByController(pod string, before time.Time) (at time.Time, all int32) {
	for i := range in.Deletions {
		d := &in.Deletions[i]
		all += d.Count
		unnamed := d.Count > int32(len(d.Pods)) && !d.At.After(before)
		if slices.Contains(d.Pods, pod) || at.IsZero() && unnamed {
			at = d.At
		}
	}
	return at, all
}
