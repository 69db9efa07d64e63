package logprinter

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/internal/logs"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/gather"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

const (
	// maxReasons is the maximum number of reasons that are printed.
	maxReasons = 10
	// maxNodeNames is the maximum number of nodes that a line names; of more, it names the first and the last.
	maxNodeNames = 3
)

// unread groups the logs that cannot be read by reason: one line for each log would bury all else if a node is down.
type unread struct {
	mu      sync.Mutex
	count   int
	reasons []*unreadReason
}

// unreadReason is one reason why logs cannot be read, with their pods and nodes.
type unreadReason struct {
	text      string // error of the log request; "" if nodes do not answer
	simulated bool   // the nodes are simulated and never answer
	first     *logs.UnreadableError
	pods      sets.Set[types.UID]
	nodes     sets.Set[string]
	// retried is the log whose interruption was printed last, "" if it can be read again.
	retried string
}

// reason returns the unreadReason for a failure, and adds it if it is new. The caller holds u.mu.
func (u *unread) reason(source logs.Source, failure error, isSimulated func(string) bool) *unreadReason {
	one := unreadReason{text: cmdutil.LogErrorLine(source.Pod.Node, failure)}
	if node := source.Pod.Node; node != "" && gather.KubeletFailure(failure) != "" {
		one.text, one.simulated = "", isSimulated != nil && isSimulated(node)
	}
	for _, known := range u.reasons {
		if known.text == one.text && known.simulated == one.simulated {
			return known
		}
	}
	one.pods, one.nodes = sets.New[types.UID](), sets.New[string]()
	u.reasons = append(u.reasons, &one)
	return &one
}

// OnUnreadable records a log that cannot be read; ReportUnread prints it.
func (p *Output) OnUnreadable(failure *logs.UnreadableError) {
	u := &p.unread
	u.mu.Lock()
	defer u.mu.Unlock()
	u.count++
	reason := u.reason(failure.Source, failure.Err, p.IsSimulated)
	if reason.first == nil {
		reason.first = failure
	}
	reason.pods.Insert(failure.Source.Pod.UID)
	reason.nodes.Insert(failure.Source.Pod.Node)
}

// OnInterrupted reports on stderr that a log is interrupted, and that it continues if failure is nil. Of several logs
// that are interrupted for the same reason at the same time, it reports only the first.
func (p *Output) OnInterrupted(source logs.Source, failure error) {
	u, log := &p.unread, cmdutil.OneLine(source.String())
	u.mu.Lock()
	defer u.mu.Unlock()
	if failure == nil {
		if i := slices.IndexFunc(u.reasons, func(r *unreadReason) bool { return r.retried == log && !r.simulated }); i >= 0 {
			u.reasons[i].retried = ""
			fmt.Fprintf(p.errOut, "The log of %s can be read again.\n", log)
		}
		return
	}
	reason := u.reason(source, failure, p.IsSimulated)
	if reason.retried != "" {
		return
	}
	reason.retried = log
	if reason.simulated {
		fmt.Fprintf(p.errOut, "Node %s is simulated: its pods have no logs.\n", cmdutil.OneLine(source.Pod.Node))
		return
	}
	fmt.Fprintf(p.errOut, "Cannot read the log of %s, retrying: %s\n", log, cmdutil.LogErrorLine(source.Pod.Node, failure))
}

// ReportUnread prints one line for each reason why logs could not be read, and returns an error with their number,
// nil if all were read. It must be called last.
func (p *Output) ReportUnread() error {
	u := &p.unread
	u.mu.Lock()
	defer u.mu.Unlock()
	printed := 0
	for _, reason := range u.reasons {
		if reason.first != nil && printed < maxReasons {
			reason.write(p.errOut)
			printed++
		}
	}
	switch {
	case u.count == 0:
		return nil
	case p.Follow:
		return cmdutil.NewUserError(cmdutil.KindOther, nil, wording.Count(u.count, "logs could not be read"), "")
	default:
		return cmdutil.NewUserError(cmdutil.KindOther, nil, wording.Of(u.count, p.sources)+" logs could not be read", "")
	}
}

func (r *unreadReason) write(w io.Writer) {
	source := r.first.Source
	switch n := len(r.pods); {
	case r.simulated:
		fmt.Fprintf(w, "%s no logs, because %s simulated (%s).\n", wording.Plural(n, "pod has", "pods have"), r.whoseNodes(), r.nodeList())
	case n == 1:
		fmt.Fprintf(w, "Cannot read the log of %s: %s\n", cmdutil.OneLine(source.String()), cmdutil.LogErrorLine(source.Pod.Node, r.first.Err))
	case r.text == "":
		fmt.Fprintf(w, "Cannot read the logs of %s: their nodes do not answer (%s).\n", wording.Count(n, "pods"), r.nodeList())
	default:
		fmt.Fprintf(w, "Cannot read the logs of %s, such as %s: %s\n", wording.Count(n, "pods"), cmdutil.OneLine(source.String()), r.text)
	}
}

// whoseNodes returns "its node is", or "their nodes are".
func (r *unreadReason) whoseNodes() string {
	switch {
	case len(r.pods) == 1:
		return "its node is"
	case len(r.nodes) == 1:
		return "their node is"
	}
	return "their nodes are"
}

// nodeList returns the names of the nodes, abbreviated.
func (r *unreadReason) nodeList() string {
	names := sets.List(r.nodes)
	if len(names) > maxNodeNames {
		return cmdutil.OneLine(names[0] + " … " + names[len(names)-1])
	}
	return cmdutil.OneLine(strings.Join(names, ", "))
}
