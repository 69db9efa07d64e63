package clean

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/batchjob-dev/kubectl-batchjob/internal/feed"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis/facts"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// candidate is a finished Job that may be deleted.
type candidate struct {
	*batchv1.Job
	outcome reconcile.Outcome
	ended   *metav1.Time // nil if unknown
	pods    int          // unknownPods if they could not be counted
}

// unknownPods is the number of pods that could not be counted.
const unknownPods = -1

// filter chooses finished Jobs.
type filter struct {
	failed, succeeded bool
	olderThan         age
	keep              int
}

// choose returns the Jobs that may be deleted, and the number of the finished Jobs that belong to JobSets.
func (f *filter) choose(jobs []*batchv1.Job, now time.Time) (chosen []*candidate, ofJobSets int) {
	for _, job := range jobs {
		outcome := feed.EndOf(job, "")
		isOther := f.failed && outcome != reconcile.OutcomeFailed || f.succeeded && outcome != reconcile.OutcomeComplete
		if outcome == "" || job.DeletionTimestamp != nil || isOther {
			continue
		}
		if owner := metav1.GetControllerOfNoCopy(job); owner != nil && owner.Kind == "JobSet" {
			ofJobSets++
			continue
		}
		chosen = append(chosen, &candidate{Job: job, outcome: outcome, ended: analysis.OutlineOf(job, nil, now).Finished})
	}
	kept := f.newest(chosen)
	return slices.DeleteFunc(chosen, func(c *candidate) bool {
		isYoung := f.olderThan > 0 && (c.ended == nil || now.Sub(c.ended.Time) < time.Duration(f.olderThan))
		return isYoung || kept[c]
	}), ofJobSets
}

// newest returns the newest Jobs of each group, which are kept.
func (f *filter) newest(jobs []*candidate) map[*candidate]bool {
	newestFirst := slices.SortedFunc(slices.Values(jobs), func(a, b *candidate) int {
		return cmp.Or(b.CreationTimestamp.Compare(a.CreationTimestamp.Time), cmp.Compare(b.Name, a.Name))
	})
	kept, sizes := map[*candidate]bool{}, map[group]int{}
	for _, c := range newestFirst {
		of := groupOf(c.Job)
		if sizes[of]++; sizes[of] <= f.keep {
			kept[c] = true
		}
	}
	return kept
}

// group identifies Jobs that are runs of the same thing: they have the same controlling owner, or the same prefix.
type group struct{ namespace, owner, prefix string }

func groupOf(job *batchv1.Job) group {
	if owner := metav1.GetControllerOfNoCopy(job); owner != nil {
		return group{namespace: job.Namespace, owner: owner.Kind + "/" + owner.Name}
	}
	return group{namespace: job.Namespace, prefix: prefixOf(job.Name)}
}

var (
	// numberSuffix matches a counter, a date, or the minute in the name of a CronJob's Job.
	numberSuffix = regexp.MustCompile(`^\d+$`)
	// generatedSuffix matches what the API server appends to metadata.generateName: five of its characters.
	generatedSuffix = regexp.MustCompile(`^[bcdfghjklmnpqrstvwxz2456789]{5}$`)
	// hashSuffix matches a commit or another hash; it has a digit.
	hashSuffix = regexp.MustCompile(`^[0-9a-f]{7,40}$`)
)

// prefixOf returns a name without its last number or random suffix.
func prefixOf(name string) string {
	i := strings.LastIndexByte(name, '-')
	if i <= 0 {
		return name
	}
	last := name[i+1:]
	isHash := hashSuffix.MatchString(last) && strings.ContainsAny(last, "0123456789")
	if numberSuffix.MatchString(last) || generatedSuffix.MatchString(last) || isHash {
		return name[:i]
	}
	return name
}

// ownerOf says what may create a Job again, or delete it anyway: its owner, a deployment tool, its TTL.
func ownerOf(job *batchv1.Job) string {
	var all []string
	if owner := metav1.GetControllerOfNoCopy(job); owner != nil {
		all = append(all, owner.Kind+"/"+owner.Name)
	}
	if tool := facts.ToolOf(job); tool != nil {
		all = append(all, wording.Join(" ", string(tool.Name), tool.Kind, tool.Release))
	}
	if ttl := job.Spec.TTLSecondsAfterFinished; ttl != nil {
		all = append(all, "TTL "+wording.Seconds(int64(*ttl)))
	}
	return strings.Join(all, ", ")
}

// age is a duration that may begin with days: 7d, 1d12h, 90m.
type age time.Duration

var daysFirst = regexp.MustCompile(`^(\d+)d(.*)$`)

// maxDays is the maximum number of days: a century.
const maxDays = 36500

// String implements pflag.Value.
func (a *age) String() string {
	if *a == 0 {
		return ""
	}
	return time.Duration(*a).String()
}

// Type implements pflag.Value.
func (*age) Type() string { return "duration" }

// Set implements pflag.Value.
func (a *age) Set(text string) error {
	var days int
	rest := text
	if m := daysFirst.FindStringSubmatch(text); m != nil {
		var err error
		if days, err = strconv.Atoi(m[1]); err != nil || days > maxDays {
			return fmt.Errorf("at most %dd", maxDays)
		}
		rest = cmp.Or(m[2], "0s")
	}
	d, err := time.ParseDuration(rest)
	if d += time.Duration(days) * 24 * time.Hour; err != nil || d < 0 {
		return fmt.Errorf("use a duration such as 12h or 7d")
	}
	*a = age(d)
	return nil
}
