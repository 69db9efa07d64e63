package input

import (
	"math"
	"strconv"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/jobspec"
)

// The API server makes a name from the first maxGenerateName bytes of generateName and suffixLength letters of suffixLetters.
const (
	maxGenerateName = 58
	suffixLength    = 5
	suffixLetters   = "bcdfghjklmnpqrstvwxz2456789"
)

// IndexInName returns the completion index in the name of a pod that is gone, so that its name is the only evidence. It reports
// whether a Job of this name could have created a pod of that name.
func IndexInName(job *batchv1.Job, pod string) (int32, bool) {
	if len(pod) < suffixLength || strings.Trim(pod[len(pod)-suffixLength:], suffixLetters) != "" {
		return reconcile.NoIndex, false
	}
	made := pod[:len(pod)-suffixLength]
	if !jobspec.IsIndexed(&job.Spec) {
		whole := job.Name + "-"
		return reconcile.NoIndex, made == whole[:min(len(whole), maxGenerateName)]
	}
	rest, isGenerated := strings.CutSuffix(made, "-")
	dash := strings.LastIndexByte(rest, '-')
	if !isGenerated || dash < 0 {
		return reconcile.NoIndex, false
	}
	text := rest[dash+1:]
	index, err := strconv.ParseInt(text, 10, 32)
	if err != nil || strconv.FormatInt(index, 10) != text || index >= int64(ptr.Deref(job.Spec.Completions, math.MaxInt32)) {
		return reconcile.NoIndex, false
	}
	room := maxGenerateName - len("-"+text+"-")
	return int32(index), rest[:dash] == job.Name[:min(len(job.Name), room)]
}
