package advice

import (
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/cause"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis/facts"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis/failures"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/meaning"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/words"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/indexset"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/retry"
)

// onDone returns advice on the work of containers that had succeeded before one failed.
func onDone(in *facts.Facts, f *failures.Failure) []explain.Advice {
	if f == nil || len(f.Done(in)) == 0 || len(f.AfterSuccess(in)) > 0 {
		return nil
	}
	return advise(fmt.Sprintf(words.CheckDone, words.ContainersText(f.Done(in))), "")
}

// needsRetry reports whether the failed Job lacks completions that no retry and no owner will run.
func needsRetry(in *facts.Facts, f *explain.Family) bool {
	if in.Decision.Outcome != reconcile.OutcomeFailed || !in.RelativesRead || in.Job.DeletionTimestamp != nil || in.ManagingOwner() != nil {
		return false
	}
	if f != nil {
		return !f.Complete && f.RunningIn == ""
	}
	return !in.Indexed() || !retry.Family{in.Job}.Missing(in.Job).IsEmpty()
}

// toRetry returns advice on running the missing part of a failed Job, or only the missing indexes among those that the report
// covers.
func toRetry(in *facts.Facts, failed *failures.Failures, v *Values, o explain.Options) []explain.Advice {
	if t := facts.ToolOf(in.Job); t.IsHook() || t.Keeps() || t != nil && t.Runs { // A copy would not be the Job that the tool waits for.
		return []explain.Advice{{Kind: explain.AdviceRerun, Text: words.RunToolAgain(t)}}
	}
	f, last := v.Family, in.Job.Name
	if f != nil {
		if m := f.Members[len(f.Members)-1]; !m.Pending {
			last = m.Name // It includes the changes of earlier retries.
		}
	}
	text, flags := words.RerunMissing, ""
	switch memory, time, variable := moreMemory(in, failed.Example), moreTime(in, v.End), missingVariable(in, failed.Example); {
	case last != in.Job.Name:
	case memory != "":
		text, flags = words.RerunWithMoreMemory, memory
	case time != "":
		text, flags = words.RerunWithMoreTime, time
	case variable != "":
		text, flags = words.RerunWithVariable, variable
	}
	if in.Indexed() && o.IsNarrow() {
		missing := covered(in, f, o)
		if missing.IsEmpty() {
			return nil
		}
		flags += " --indexes " + missing.String()
	}
	return []explain.Advice{{Kind: explain.AdviceRerun, Text: text, Command: kubectl(in.Job, "batchjob retry %s%s", shellWord(last), flags)}}
}

// missingVariable returns the flag of retry that sets the variable which the program needs and the pod template lacks, or "".
func missingVariable(in *facts.Facts, f *failures.Failure) string {
	if f == nil || f.Container() == nil {
		return ""
	}
	known := f.KnownError(in)
	if known == nil || known.Kind != meaning.ErrorVariable || known.Subject == "" || in.IsInjected(f.Container().Name) {
		return ""
	}
	return " --set-env " + shellWord(known.Subject+"=VALUE")
}

// moreTime returns the flag of retry that doubles the deadline which ended a Job at work, or "".
func moreTime(in *facts.Facts, e *explain.End) string {
	seconds := in.Spec.ActiveDeadlineSeconds
	if e.EndedBy != explain.EndedByDeadline || e.Outlived != nil || e.Looped != "" || e.Counted > 0 || seconds == nil {
		return ""
	}
	return fmt.Sprintf(" --active-deadline-seconds %d", 2**seconds)
}

// moreMemory returns the flags of retry that double the memory limits of the containers that ran out of memory, or "".
func moreMemory(in *facts.Facts, f *failures.Failure) string {
	if f == nil || f.Container() == nil || f.Container().Reason != cause.OOMKilled {
		return ""
	}
	killed := f.OutOfMemory()
	type limits struct {
		Name      string                       `json:"name"`
		Resources map[string]map[string]string `json:"resources"`
	}
	var more []limits
	for _, c := range killed {
		limit := in.MemoryLimit(c)
		memory, err := resource.ParseQuantity(limit.Value)
		if err != nil || limit.From == input.LimitOfAllOfPod || in.IsInjected(c.Name) {
			return "" // There is no limit, or it is not of a container of the Job.
		}
		memory.Mul(2)
		more = append(more, limits{c.Name, map[string]map[string]string{"limits": {"memory": memory.String()}}})
	}
	if len(more) > 1 {
		containers, _ := json.Marshal(more)
		return " --patch " + shellWord(fmt.Sprintf(`{"spec":{"template":{"spec":{"containers":%s}}}}`, containers))
	}
	flag := ""
	if in.HasSeveralContainers() {
		flag = " -c " + shellWord(killed[0].Name)
	}
	return flag + " --limits memory=" + more[0].Resources["limits"]["memory"]
}

// covered returns the missing indexes that the report covers.
func covered(in *facts.Facts, f *explain.Family, o explain.Options) indexset.Set {
	missing := retry.Family{in.Job}.Missing(in.Job)
	if f != nil {
		missing, _ = indexset.Parse(f.Missing)
	}
	if o.Pod == "" {
		return missing.Intersection(o.Indexes)
	}
	pod := input.PodNamed(in.Pods, o.Pod)
	if pod == nil || !missing.Contains(pod.Index) {
		return indexset.Set{}
	}
	return indexset.Of(pod.Index)
}
