package words

import (
	"fmt"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/meaning"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/rulename"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// problemWords are the words for one kind of problem.
type problemWords struct {
	// what is the first clause of the sentence, and quote the message at its end, nil for none. note is the consequence, nil if it is obvious.
	what, note clause
	quote      func(p *explain.Problem, now time.Time) quotation
	// short replaces what if that leaves no room for the quotation in its sentence, and aside, what it leaves out, follows; nil for none.
	short, aside clause
	// group is what for several Jobs, nil if their common problem has no pods and times.
	group clause
	// brief is for a narrow column. column replaces the reason of Kubernetes in the column WHY.
	brief  clause
	column string
	// state is the state of a Job that the problem blocks, "" for "is stalled". plain is set if the verdict is only what.
	state string
	plain bool
	// advice is for pods with the problem, unless their values lead to better advice.
	advice string
}

// clause returns a clause about a problem.
type clause func(p *explain.Problem, now time.Time) string

// phrase returns a clause in which only {container} and {asked} vary.
func phrase(text string) clause {
	return func(p *explain.Problem, _ time.Time) string {
		return wording.Insert(text, "{container}", p.Container, "{asked}", p.Asked)
	}
}

// endlessNote is the note on containers that do not start, which no retry limit counts.
func endlessNote(p *explain.Problem, _ time.Time) string {
	if p.Endless && p.Run.Restarts == 0 { // Restarts count towards backoffLimit.
		return "the Job waits forever"
	}
	return ""
}

// problems are the words for each kind of problem, in the order of the kinds.
var problems = map[explain.ProblemKind]problemWords{
	explain.ProblemSuspended: {what: suspendedText, quote: suspendedQuote, note: suspendedNote, state: stateSuspended, plain: true},
	explain.ProblemNotReconciled: {
		what: func(p *explain.Problem, now time.Time) string {
			return "nothing has run this Job since it was created" + ago(p.Since, now)
		}, note: notReconciledNote, group: phrase("no controller works on them"), column: "no controller",
	},
	explain.ProblemControllerGone: {
		what: notRunningText, group: notRunningText, column: "controller not running",
		quote: func(p *explain.Problem, now time.Time) quotation {
			return quotation{message: ReconcilerText(p.Reconciler, now), before: ": ", whole: true}
		},
	},
	explain.ProblemCreationRefused: {what: creationRefusedText, quote: refusalQuote, group: creationsRefusedText, brief: refusedBriefly},
	explain.ProblemNoParallelism:   {what: phrase("parallelism is 0, so no pods are created"), column: "parallelism is 0"},
	explain.ProblemNoPodGroup:      {what: noPodGroupText},
	explain.ProblemDeleting:        {what: deletingText, note: deletingNote, state: stateDeleting, plain: true},
	explain.ProblemUnschedulable: {
		what: unschedulableText, quote: unschedulableQuote, note: unschedulableNote, brief: unfitsBriefly, column: noNode,
	},
	explain.ProblemSchedulingGated: {
		what: gatedText, quote: suspendedQuote, note: gatedNote,
		advice: "find the controller that sets this gate, and removes it when the pod may be scheduled: its log, or an event of the pod, may say why it has not",
	},
	explain.ProblemImagePull: {
		what: imageText, quote: imageQuote, note: imageNote,
		advice: "find out why in the events of the pod; then make the image available to its node, or run another one",
	},
	explain.ProblemContainerConfig: {what: unstartableText, quote: unstartableQuote, note: unstartableNote},
	explain.ProblemCrashLoop: {
		what: crashLoopText, quote: crashLoopQuote, short: crashLoopLead, aside: crashLoopRestarts, note: restartsNote, group: crashLoopsText, brief: crashLoopBriefly,
		advice: "read its log from before the last restart",
	},
	explain.ProblemRestarted: {what: restartedText, quote: crashLoopQuote, note: restartsNote},
	explain.ProblemPodsLost: {what: func(p *explain.Problem, _ time.Time) string {
		return wording.Plural(p.Count, "pod that the Job created was deleted or evicted, and counts", "pods that the Job created were deleted or evicted, and count") + " neither as failed nor as succeeded"
	}, note: func(p *explain.Problem, _ time.Time) string {
		return "a rule with action Ignore may have matched " + wording.Form(p.Count, "it", "them") + ", and a back-off may delay new pods"
	}},
	explain.ProblemContainerStopped: {
		what: containerStoppedText, note: containerStoppedNote, brief: phrase("container stopped"),
		advice: DeleteHeld + "; if it keeps terminating, restart the container runtime and the kubelet of its node",
	},
	explain.ProblemInitRunning: {
		what: initRunningText, quote: initQuote, brief: phrase("init container {container} runs"), plain: true, note: func(p *explain.Problem, _ time.Time) string {
			return fmt.Sprintf("%s start%s only after it has ended", ContainersText(p.Role.Later), wording.Form(len(p.Role.Later), "s", ""))
		},
	},
	explain.ProblemSidecarNotStarted: {
		what: sidecarNotStartedText, quote: sidecarQuote, note: restartsNote, brief: phrase("sidecar {container} not started"),
	},
	explain.ProblemPodPending:       {what: slowStartText, quote: slowStartQuote, note: slowStartNote, advice: "find out what the pod is waiting for"},
	explain.ProblemProcessOOMKilled: {what: processOOMKilledText, note: heldNote},
	explain.ProblemContainerRetried: {what: containerRetriedText},
	explain.ProblemErrorRepeated:    {what: errorRepeatedText, quote: outputQuote},
	explain.ProblemWaits:            {what: phrase("container {container} waits"), quote: waitsQuote},
	explain.ProblemSilent: {
		what: func(p *explain.Problem, now time.Time) string {
			return "container " + p.Container + " has printed nothing for " + wording.Age(now.Sub(p.Since.Time))
		},
		quote: func(p *explain.Problem, _ time.Time) quotation {
			return inQuotes("; its log ends with ", p.Run.LastLine)
		},
	},
	explain.ProblemErrorHidden: {what: errorHiddenText, quote: outputQuote},
	explain.ProblemContainerFailed: {
		what: containerEndedText, quote: crashLoopQuote, note: containerFailedNote,
		group: func(p *explain.Problem, now time.Time) string {
			return containersEndedText(p, now) + ", and " + ContainersText(p.Stopping.Running) + wording.Form(len(p.Stopping.Running), " still runs", " still run")
		},
		brief: func(p *explain.Problem, now time.Time) string {
			return fmt.Sprintf("exit %d, %s", p.Run.Exit.ExitCode, stillRunBriefly(p, now))
		},
	},
	explain.ProblemContainerEnded:   {what: containerEndedText, note: containerEndedNote, group: containersEndedText, brief: stillRunBriefly},
	explain.ProblemSidecarStopping:  {what: containerEndedText, note: sidecarStoppingNote, group: containersEndedText, brief: stillRunBriefly},
	explain.ProblemPodNotEnded:      {what: containerEndedText, group: containersEndedText, brief: phrase("pod not ended by its kubelet"), advice: CheckKubelet},
	explain.ProblemTerminatingHolds: {what: terminatingText, column: "waits for terminating pods"},
	explain.ProblemTerminatingStuck: {
		what: terminatingText, column: "a pod does not terminate",
	},
	explain.ProblemNodeGone: {what: terminatingText, column: "node gone"},
	explain.ProblemFinalizerStuck: {what: finalizerStuckText, note: func(p *explain.Problem, _ time.Time) string {
		return ControllerWord(p.Controller) + " has not removed it; a webhook or policy on updates of pods is the usual reason"
	}, column: "pods keep their finalizer"},
	explain.ProblemForeignFinalizer: {
		what: foreignFinalizerText, note: phrase("the Job does not wait for this"),
		advice: "find out who owns the finalizer, and why it has not been removed",
	},
	explain.ProblemInvalidRuleNames: {
		what: phrase("the failure rule names in annotation " + rulename.Annotation + " are invalid, so none of them are used"),
		note: phrase("reasons refer to rules by index"),
	},
	explain.ProblemSuccessImpossible: {
		what: phrase("no rule of the successPolicy can be met anymore"), note: phrase("the Job ends when all its indexes have ended"),
	},
	explain.ProblemUnknownMode:     {what: phrase("this version does not know completionMode {asked}"), note: phrase("no controller of this version runs the Job")},
	explain.ProblemBadRetryIndexes: {what: phrase("annotation {asked}")},
	explain.ProblemInconsistent:    {what: phrase("the status of the Job does not match its pods")},
}

// of returns the clause about the problem, "" for none.
func (c clause) of(p *explain.Problem, now time.Time) string {
	if c == nil {
		return ""
	}
	return c(p, now)
}

// ProblemText describes the problem in a sentence.
func ProblemText(p *explain.Problem, now time.Time) string {
	return joined(append(whatClauses(p, now, ""), ProblemNote(p)))
}

// ProblemWhat returns the problem's text without its consequence.
func ProblemWhat(p *explain.Problem, now time.Time) string { return joined(whatClauses(p, now, "")) }

// whatClauses returns the first clause of the problem's text, and the message that it quotes, if that does not fit into a sentence.
// They follow the beginning of a sentence.
func whatClauses(p *explain.Problem, now time.Time, beginning string) []string {
	clauses, aside := whatAndAside(p, now, beginning)
	return append(clauses, aside)
}

// whatAndAside returns these clauses without the last one if that only adds to a short text.
func whatAndAside(p *explain.Problem, now time.Time, beginning string) (clauses []string, aside string) {
	of := problems[p.Kind]
	text := of.what.of(p, now)
	if of.quote == nil {
		return []string{text}, ""
	}
	quote := of.quote(p, now)
	clauses = quote.clauses(text, room(beginning))
	if short := of.short.of(p, now); short != "" && (!quote.whole || len(clauses) > 1) {
		if more := quote.clauses(short, room(beginning)); len(more) == 1 && (len(clauses) > 1 || len(more[0])-len(short) > len(clauses[0])-len(text)) {
			return more, of.aside.of(p, now)
		}
	}
	return clauses, ""
}

// ProblemNote returns what adds to the first clause: why an object is missing, and the consequence; "" if it is obvious.
func ProblemNote(p *explain.Problem) string {
	return Clauses([]string{hookOrder(p), problems[p.Kind].note.of(p, time.Time{})})
}

// ProblemBrief returns, for a narrow column, the reasons why no node can take the pod, or the container that keeps it from
// starting or ending; "" for other problems.
func ProblemBrief(p *explain.Problem) string { return problems[p.Kind].brief.of(p, time.Time{}) }

// PodAdvice returns advice on a problem of pods, or "".
func PodAdvice(kind explain.ProblemKind) string { return problems[kind].advice }

// ProblemReason names the problem in one word, the word of Kubernetes if there is one; refused pods and containers that
// others wait for need a few more.
func ProblemReason(p *explain.Problem) string {
	switch brief := ProblemBrief(p); {
	case p.Kind == explain.ProblemCreationRefused:
		return "FailedCreate: " + p.Refusal.Text()
	case p.Kind == explain.ProblemUnschedulable:
		return wording.Join(": ", string(p.Kind), brief)
	case brief != "" && p.Kind != explain.ProblemCrashLoop:
		return brief
	case (p.Container != "" || p.Start.Trouble != nil) && p.Start.Reason != "":
		return wording.Join(": ", p.Start.Reason, p.Start.Trouble.Brief())
	}
	return string(p.Kind)
}

func notReconciledNote(p *explain.Problem, _ time.Time) string {
	if p.Controller == "" {
		return "kube-controller-manager does not seem to be running, or its Job controller is disabled"
	}
	return "its managedBy is " + p.Controller + ", and no such controller seems to be running"
}

func notRunningText(p *explain.Problem, _ time.Time) string {
	if p.Reconciler != nil && p.Reconciler.Alive == explain.AlivenessUnknown {
		return ControllerWord(p.Controller) + " may not be running"
	}
	return ControllerWord(p.Controller) + " does not seem to be running"
}

func creationRefusedText(p *explain.Problem, _ time.Time) string {
	text, _ := p.Refusal.Clause()
	return "pods cannot be created: " + text
}

func refusalQuote(p *explain.Problem, _ time.Time) quotation {
	_, detail := p.Refusal.Clause()
	switch {
	case p.Refusal.Kind == meaning.RefusalQuota:
		return quotation{message: detail, before: " (", after: ")", whole: true}
	case p.Refusal.IsWhole(), p.Refusal.Kind == meaning.RefusalInvalid && len(p.Refusal.Injected) == 0 && strings.HasPrefix(detail, "spec."):
		return quotation{message: detail, before: ": ", whole: true}
	case p.Refusal.Webhook != nil:
		return inQuotes(": ", detail)
	}
	return plainly(detail)
}

// refusedClauses returns the refusal after these words, and what its message adds to it.
func refusedClauses(beginning string, r *meaning.Refusal) []string {
	text, _ := r.Clause()
	return refusalQuote(&explain.Problem{Refusal: r}, time.Time{}).clauses(beginning+text, room(""))
}

// creationsRefusedText leaves out the numbers of a quota, which differ between Jobs.
func creationsRefusedText(p *explain.Problem, now time.Time) string {
	r := *p.Refusal
	if r.Kind == meaning.RefusalQuota {
		r.Message = ""
	}
	q := &explain.Problem{Refusal: &r}
	return joined(refusalQuote(q, now).clauses(creationRefusedText(q, now), room(stalled)))
}

func refusedBriefly(p *explain.Problem, _ time.Time) string { return p.Refusal.Brief() }

func finalizerStuckText(p *explain.Problem, _ time.Time) string {
	return fmt.Sprintf("%s the finalizer batch.kubernetes.io/job-tracking, so %s cannot be deleted",
		wording.Plural(p.Count, "ended pod of the Job still has", "ended pods of the Job still have"), wording.Form(p.Count, "it", "they"))
}

func foreignFinalizerText(p *explain.Problem, _ time.Time) string {
	owner := "another controller"
	if len(p.Deletion.Finalizers) == 1 && FinalizerOwner(p.Deletion.Finalizers[0]) != "" {
		owner = FinalizerOwner(p.Deletion.Finalizers[0])
	}
	return fmt.Sprintf("%s ended but still %s the %s %s of %s",
		wording.Plural(p.Count, "deleted pod has", "deleted pods have"), wording.Form(p.Count, "has", "have"), wording.Form(len(p.Deletion.Finalizers), "finalizer", "finalizers"), strings.Join(p.Deletion.Finalizers, ", "), owner)
}

// ControllerWord names the controller that runs Jobs with this managedBy.
func ControllerWord(managedBy string) string {
	if managedBy == "" {
		return "the built-in controller"
	}
	return "controller " + managedBy
}

func noPodGroupText(p *explain.Problem, _ time.Time) string {
	who := "its controller"
	if p.Controller != "" {
		who = ControllerWord(p.Controller)
	}
	return fmt.Sprintf("no pods are created, because the Job requests workload-aware scheduling (%s), which %s does not support", p.Asked, who)
}

func terminatingText(p *explain.Problem, _ time.Time) string {
	pods, it := wording.Plural(p.Count, "pod is", "pods are")+" terminating", wording.Form(p.Count, "it", "them")
	switch p.Kind {
	case explain.ProblemNodeGone:
		pods += fmt.Sprintf(" on node %s, which %s", p.Node, strings.TrimPrefix(p.Start.Reason, "it "))
	case explain.ProblemTerminatingStuck:
		pods += " past the grace period"
		if t := p.Deletion.Trouble; t != nil {
			pods += ", as " + t.Text("")
		}
	}
	switch p.Deletion.Holds {
	case explain.HoldsEnd:
		return pods + ", and the Job waits for " + it + " to end"
	case explain.HoldsReplacement:
		return pods + wording.Form(p.Count, ", and is replaced only after it has ended", ", and are replaced only after they have ended") + " (podReplacementPolicy Failed)"
	}
	return pods + ", and counted in status.terminating"
}

func processOOMKilledText(p *explain.Problem, _ time.Time) string {
	kind, limit, pods := "container", "", ""
	if p.Role.Sidecar {
		kind = "init container"
		if p.Run.Exit.ExitCode != 0 {
			kind = "sidecar" // Another init container that fails keeps its pod from succeeding.
		}
	}
	if p.Run.MemoryLimit != nil {
		limit = ", " + LimitText(p.Run.MemoryLimit)
	}
	switch {
	case p.Count > 1 && p.Blocks:
		pods = " in " + wording.Count(p.Count, "pods")
	case p.Count > 1:
		pods = " in " + wording.Count(p.Count, "pods that succeeded")
	}
	if p.Run.Exit.ExitCode != 0 {
		restarted := ""
		if p.Run.Restarts > 0 {
			restarted = ", and was restarted " + wording.Plural(p.Run.Restarts, "time", "times")
		}
		return fmt.Sprintf("%s %s exited with code %d for lack of memory (%s%s)%s%s: what it was doing may be incomplete",
			kind, p.Container, p.Run.Exit.ExitCode, p.Run.Exit.Reason, limit, pods, restarted)
	}
	consequence := ": its result may be incomplete"
	if p.Blocks {
		consequence = "" // The note has it.
	}
	return fmt.Sprintf("%s %s exited with code 0%s, but the kernel killed a process in it for lack of memory (%s%s)%s",
		kind, p.Container, pods, p.Run.Exit.Reason, limit, consequence)
}

// heldNote says what waits for a container that holds up its pod.
func heldNote(p *explain.Problem, _ time.Time) string {
	if !p.Blocks {
		return ""
	}
	return wording.Join(", and ", "so the kubelet does not start "+ContainersText(p.Role.Later), endlessNote(p, time.Time{}))
}

// containerRetriedText describes a container that failed before its pod succeeded.
func containerRetriedText(p *explain.Problem, _ time.Time) string {
	kind := "init container "
	if p.Role.Sidecar {
		kind = "sidecar "
	}
	where := "pod " + strings.Join(p.Pods, "")
	if p.Count > 1 {
		where = wording.Count(p.Count, "pods that succeeded")
	}
	return fmt.Sprintf("%s%s failed with %s in %s", kind, p.Container, "exit "+p.Run.Exit.Code()+", restarted "+wording.Plural(p.Run.Restarts, "time", "times"), where)
}

// ago returns " 3s ago", or "" for an unknown time.
func ago(t *metav1.Time, now time.Time) string {
	if t.IsZero() {
		return ""
	}
	return " " + wording.Age(now.Sub(t.Time)) + " ago"
}

// NodeLost is the reason why a node cannot stop pods, if no other is known.
const NodeLost = "it is lost"

// Formats of what a status does not agree about.
const (
	DamagedIndexes   = "%s of a list of indexes cannot be read"
	CountKept        = "succeeded says %s, and %s are complete"
	TooManySucceeded = "%s succeeded, and completions asks for %s"
)

// probeLoopText describes a container that the kubelet kills repeatedly because a probe fails.
func probeLoopText(p *explain.Problem) string {
	text := fmt.Sprintf("container %s is killed and restarted repeatedly because its %s probe fails", p.Container, p.Run.Ending.Probe)
	if p.Run.Exit != nil {
		text += fmt.Sprintf(" (exit code %d, restarted %s)", p.Run.Exit.ExitCode, wording.Plural(p.Run.Restarts, "time", "times"))
	}
	return text
}

// hostOf returns the host of the holder of a Lease; a suffix distinguishes the processes of one host.
func hostOf(holder string) string {
	host, _, _ := strings.Cut(holder, "_")
	return host
}

// ReconcilerText returns the reason for the value of Alive, in one line.
func ReconcilerText(r *explain.Reconciler, now time.Time) string {
	switch r.Sign {
	case explain.SignNeverWorked:
		managedBy := r.ManagedBy
		if managedBy == explain.BuiltInManagedBy {
			managedBy = ""
		}
		return fmt.Sprintf("nothing has run this Job since it was created: is %s running?", ControllerWord(managedBy))
	case explain.SignLeaseExpired:
		return fmt.Sprintf("its Lease %s has expired (last renewed%s)", r.Lease, ago(r.LeaseRenewed, now))
	case explain.SignLeaseHeld:
		where := ""
		if namespace, _, _ := strings.Cut(r.Lease, "/"); namespace != "" && namespace != input.SystemNamespace {
			where = ", by its Lease " + r.Lease // Users of that namespace can forge a Lease.
		}
		return fmt.Sprintf("seen%s on %s%s", ago(r.LeaseRenewed, now), hostOf(r.LeaseHolder), where)
	case explain.SignLeaseUnclear:
		return fmt.Sprintf("two Leases disagree, and only one can be the controller's: %s (%s, renewed%s) and %s (%s, renewed%s)",
			r.Lease, hostOf(r.LeaseHolder), ago(r.LeaseRenewed, now), r.OtherLease, hostOf(r.OtherHolder), ago(r.OtherRenewed, now))
	case explain.SignOverdue:
		since := ago(r.OverdueSince, now)
		if since != "" {
			since = " at least" + since
		}
		return fmt.Sprintf("%s ended%s and %s not recorded", wording.Plural(r.Overdue, "pod", "pods"), since, wording.Form(r.Overdue, "is", "are"))
	case explain.SignLastWrite:
		return "last wrote the status" + ago(r.LastWrite, now)
	}
	return "not known whether it is running"
}
