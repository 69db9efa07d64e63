package advice

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/cause"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis/facts"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis/failures"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/meaning"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/words"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/lists"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/indexset"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/retry"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
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
// covers; edits is whether its template has to change before.
func toRetry(in *facts.Facts, failed *failures.Failures, v *Values, o explain.Options, edits bool) []explain.Advice {
	if t := facts.ToolOf(in.Job); t.IsHook() || t.Keeps() || t != nil && (t.Runs || t.Source != "") { // A copy would not be the Job that the tool waits for.
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
	case edits:
		flags = " --edit"
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

// moreTime returns the flag of retry that doubles the deadline which ended a Job at work, or leaves time for its pods to start, or "".
func moreTime(in *facts.Facts, e *explain.End) string {
	seconds, p := in.Spec.ActiveDeadlineSeconds, e.NeverStarted
	slow := e.EndedBy == explain.EndedByNeverStarting && p != nil && (p.Start.Reason == explain.Pulling || p.Start.Trouble.MayPass() && p.Start.Trouble.IsElsewhere())
	if seconds == nil || e.EndedBy != explain.EndedByDeadline && !slow || e.Outlived != nil || e.Looped != "" || e.Counted > 0 {
		return ""
	}
	return fmt.Sprintf(" --active-deadline-seconds %d", max(2**seconds, map[bool]int64{true: 600}[slow])) // A slow start needs some minutes.
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

// ofTemplate are the problems that a change of the pod template may solve.
var ofTemplate = []explain.ProblemKind{
	explain.ProblemCreationRefused, explain.ProblemUnschedulable, explain.ProblemImagePull, explain.ProblemContainerConfig,
	explain.ProblemCrashLoop, explain.ProblemPodPending, explain.ProblemContainerEnded, explain.ProblemContainerFailed,
}

// hasSource reports whether a tool or an owner creates the Job.
func hasSource(in *facts.Facts) bool { return facts.ToolOf(in.Job) != nil || in.ManagingOwner() != nil }

// onSource returns the advice to change the source of the Job if a tool or an owner creates it, after other advice on the problem.
func onSource(in *facts.Facts, p *explain.Problem, given []explain.Advice) []explain.Advice {
	if !slices.Contains(ofTemplate, p.Kind) || p.Refusal != nil && len(p.Refusal.Injected) > 0 {
		return nil
	}
	var skip []explain.Advice
	if text := words.SkipHook(facts.ToolOf(in.Job)); text != "" && p.Kind != explain.ProblemCrashLoop {
		skip = advise(text, "")
	}
	if isOfCluster(p) || (p.Kind == explain.ProblemCrashLoop || p.Kind == explain.ProblemUnschedulable) && slices.ContainsFunc(given, func(a explain.Advice) bool { return a.Elsewhere }) {
		return skip
	}
	if o := facts.OwnerOf(in.Job); o != nil && !hasSource(in) && p.Kind == explain.ProblemImagePull && p.Start.Trouble.IsWrongImage() {
		out := advise(fmt.Sprintf(words.CorrectImageOf, o.Name), kubectl(in.Job, "edit cronjob %s", shellWord(o.Name)))
		out[0].OfOwner = true
		return out
	}
	return append(changeSource(in, sourceClause(in, p, given), given), skip...)
}

// sourceClause returns what the source of the Job is changed for, or on which condition, "" if other advice says so.
func sourceClause(in *facts.Facts, p *explain.Problem, given []explain.Advice) string {
	switch {
	case p.Start.Reason == explain.InvalidImageName:
		return "to correct the name of the image" + wording.InBrackets(meaning.NameFault(p.Image)) + ", "
	case p.Start.Trouble.IsDenied(), p.Start.Trouble != nil && p.Start.Trouble.Kind == meaning.RateLimit:
		return "to add imagePullSecrets, "
	case p.Kind == explain.ProblemImagePull:
		return "to run another image, "
	case p.Kind == explain.ProblemCrashLoop && !slices.ContainsFunc(given, func(a explain.Advice) bool { return a.OfTemplate }):
		return words.ToChange
	case slices.ContainsFunc(given, func(a explain.Advice) bool { return a.Recreates }): // It says what to change.
	case p.Start.Trouble.IsAboutObject():
		if t := facts.ToolOf(in.Job); t.IsHook() && t.Name == explain.ToolHelm && t.After() == "" {
			return fmt.Sprintf("if another hook creates it, give that one a helm.sh/hook-weight below %d, as Helm waits for the end of this one before it runs the next; if the name is wrong, ", t.Weight)
		}
		return "if the name is wrong, "
	case p.Kind == explain.ProblemUnschedulable, p.Kind == explain.ProblemPodPending, p.Start.Trouble != nil: // Others may be at fault.
		return words.ToChange
	}
	return ""
}

// changeSource returns the advice to change what creates the Job, if a tool or an owner does, unless given advice names the setting; to
// begins the advice.
func changeSource(in *facts.Facts, to string, given []explain.Advice) []explain.Advice {
	first := ptr.Deref(lists.First(given, func(a *explain.Advice) bool { return a.Change != "" }), explain.Advice{})
	c, t, o := first.Change, facts.ToolOf(in.Job), in.ManagingOwner()
	var out []explain.Advice
	switch isNamed := slices.ContainsFunc(given, func(a explain.Advice) bool { return a.Recreates }); {
	case isNamed && in.Finished() && t != nil && t.Source == "" && !t.IsHook(): // The rest has been said.
		out = advise(words.ReplaceEnded(t), "")
	case t != nil && (!first.Recreates || t.Settings[c] == ""):
		out = advise(words.ChangeSource(to, t, c, in.Finished()), "")
	case t == nil && o != nil && (!first.Recreates || o.Settings[c] == ""):
		out = advise(to+words.ChangeOwner(o, c), kubectl(in.Job, "get %s %s -o yaml", strings.ToLower(shellWord(o.Kind)), shellWord(o.Name)))
	}
	for i := range out {
		out[i].OfSource = true
	}
	return out
}

// changeBy returns what of the Job has to change because of a kind of problem, refusal, or error, or because of a reason why no node takes a
// pod; "" if that is unknown.
func changeBy(kind any) explain.Change {
	switch kind {
	case explain.ProblemImagePull, meaning.ErrorWrongArchitecture, meaning.ErrorModuleMissing, meaning.ErrorLibraryVersion, meaning.ErrorClientVersion, meaning.ErrorRuntimeVersion, meaning.ErrorCommandNotFound:
		return explain.ToImage
	case explain.ProblemProcessOOMKilled, meaning.RefusalQuota, meaning.RefusalQuotaNeeds, meaning.RefusalLimitRange, meaning.UnfitResource, meaning.UnfitResources,
		meaning.ErrorOutOfMemory, meaning.ErrorProcessKilled, meaning.ErrorHeapSize, meaning.ErrorOutOfGPUMemory, meaning.ErrorNoGPU, meaning.ErrorMemoryTooLow:
		return explain.ToResources
	case meaning.UnfitTaint:
		return explain.ToTolerations
	case meaning.RefusalNodeSelector, meaning.UnfitNodeAffinity, meaning.UnfitPodAffinity:
		return explain.ToNodes
	case meaning.RefusalServiceAccount, meaning.RefusalSCC, meaning.ErrorForbidden, meaning.ErrorNoCredentials:
		return explain.ToAccount
	case meaning.RefusalPodSecurity, meaning.RefusalPSP, meaning.ErrorPermission, meaning.ErrorOwnership, meaning.ErrorReadOnly, meaning.ErrorRootUser, meaning.ErrorCapabilities:
		return explain.ToSecurity
	case meaning.ErrorVariable, meaning.ErrorSetting, meaning.ErrorUsage, meaning.ErrorScript:
		return explain.ToCommand
	}
	return ""
}
