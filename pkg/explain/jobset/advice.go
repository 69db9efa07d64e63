package jobset

import (
	"fmt"
	"strings"

	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/kueue"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/words"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// onStillRunning returns advice on Jobs that outlive their JobSet, if any.
func onStillRunning(r *explain.JobSetReport) []explain.Advice {
	const most = 10 // names in a command
	switch n := len(r.StillRun); {
	case n == 0:
		return nil
	case n > most:
		return one(words.DeleteOver(r, true), kubectl(r, "delete jobset %s", explain.ShellWord(r.Name)))
	}
	names := make([]string, len(r.StillRun))
	for i, name := range r.StillRun {
		names[i] = explain.ShellWord(name)
	}
	return one(words.DeleteOver(r, false), kubectl(r, "delete job %s", strings.Join(names, " ")))
}

func adviceOnState(r *explain.JobSetReport) []explain.Advice {
	name := explain.ShellWord(r.Name)
	switch {
	case r.Held != nil || r.State == explain.JobSetSuspended:
		return adviceOnSuspended(r)
	case len(r.Dropped) > 0 && r.Job == nil && r.State == explain.JobSetRunning:
		return one(words.UpdateDefinition, "kubectl explain jobset."+explain.ShellWord(r.Dropped[0].Path))
	case r.State == explain.JobSetJobsSuspended:
		return one(words.FindWhoSuspends, kubectl(r, "batchjob why %s", explain.ShellWord(r.Job.Name)))
	case r.State == explain.JobSetFailed && r.MaxRestarts == nil:
		return append(adviceOnJob(r), one(words.AllowRestarts, kubectl(r, "get jobset %s -o yaml", name))...)
	case r.State == explain.JobSetFailed:
		return append(adviceOnJob(r), one(words.RecreateJobSet, "")...)
	case r.State == explain.JobSetRunning && r.Job != nil && r.Job.FailedPods > 0 && ptr.Deref(r.MaxRestarts, 0) > 0:
		return append(one(words.FailToRestart, ""), adviceOnJob(r)...)
	case r.Job != nil && r.State != explain.JobSetJobsMissing && r.State != explain.JobSetCreationRefused:
		return adviceOnJob(r)
	}
	return adviceOnMissing(r)
}

// adviceOnSuspended returns the advice on a suspended JobSet.
func adviceOnSuspended(r *explain.JobSetReport) []explain.Advice {
	switch {
	case r.Held != nil && r.Jobs > 0: // The advice on its Jobs is about Kueue.
		return nil
	case r.Held != nil:
		return one(wording.Insert(r.Held.Hold.Advice(), "{recreate}", "create the JobSet again"), kubectl(r, "describe %s %s", kueue.Workloads, explain.ShellWord(r.Held.Hold.Workload)))
	case r.Queue != "":
		return one(fmt.Sprintf(words.AwaitQueue, r.Queue), kubectl(r, "get workloads.kueue.x-k8s.io"))
	}
	return one(words.ResumeJobSet, kubectl(r, `patch jobset %s --type merge -p '{"spec":{"suspend":false}}'`, explain.ShellWord(r.Name)))
}

// adviceOnJob returns the advice on the cause of the Job that the answer is about, and on where its template comes from.
func adviceOnJob(r *explain.JobSetReport) (out []explain.Advice) {
	if r.Job == nil {
		return nil
	}
	for _, a := range []*explain.Advice{r.Job.Fix, r.Job.Logs} {
		if a != nil {
			out = append(out, *a)
		}
	}
	text := words.ChangeJobSet
	switch fix := r.Job.Fix; {
	case fix == nil || fix.Elsewhere || r.State == explain.JobSetFailed:
		return out
	case fix.OfTemplate:
		text = words.CorrectJobSet
	}
	return append(out, one(text, kubectl(r, "get jobset %s -o yaml", explain.ShellWord(r.Name)))...)
}

// adviceOnMissing returns the advice on a JobSet that lacks Jobs.
func adviceOnMissing(r *explain.JobSetReport) []explain.Advice {
	name := explain.ShellWord(r.Name)
	spec := kubectl(r, "get jobset %s -o yaml", name)
	noJobs := r.State == explain.JobSetNoJobs
	switch {
	case r.State == explain.JobSetCreationRefused:
		return adviceOnRefusal(r, spec)
	case r.State == explain.JobSetJobsMissing && r.BadTemplate != "":
		return append(one(words.CorrectJobSet, spec), readLog()...)
	case r.State == explain.JobSetJobsMissing:
		return readLog()
	case noJobs && r.BadService != "":
		return one(words.RenameJobSet, spec)
	case noJobs && r.ManagedBy != "":
		return one(fmt.Sprintf(words.CheckOtherController, r.ManagedBy), spec)
	case noJobs && r.Untouched:
		return append(one(words.CheckJobSetController, "kubectl get pods -n jobset-system"), readLog()...)
	case noJobs:
		return one(words.ReadEventsOfJobSet, kubectl(r, "describe jobset %s", name))
	}
	return nil
}

// adviceOnRefusal returns advice on Jobs that the API server refuses; spec is the command that prints the JobSet.
func adviceOnRefusal(r *explain.JobSetReport, spec string) []explain.Advice {
	switch all := r.Unlimited; {
	case len(all) > 0:
		return one(fmt.Sprintf(words.SetEqualLimit, all[0].Resource, all[0].Container, all[0].ReplicatedJob), spec)
	case r.Refusal.IsOfQuota():
		return one(words.FreeJobQuota, kubectl(r, "describe resourcequota %s", explain.ShellWord(r.Refusal.By)))
	case r.Refusal.IsOfTemplate():
		return one(words.CorrectJobSet, spec)
	}
	return one(words.ResolveRefusal, kubectl(r, "describe jobset %s", explain.ShellWord(r.Name)))
}

func readLog() []explain.Advice {
	return one(words.ReadLogOfJobSets, "kubectl logs deployment/jobset-controller-manager -n jobset-system")
}

func one(text, command string) []explain.Advice {
	return []explain.Advice{{Text: text, Command: command}}
}

// kubectl returns a command with the namespace of the JobSet.
func kubectl(r *explain.JobSetReport, format string, args ...any) string {
	return explain.Kubectl(r.Namespace, format, args...)
}
