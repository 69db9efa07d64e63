package text

import (
	"encoding/json"
	"io"
	"math"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/controller"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/controller/leader"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/analysis"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/gather"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/input"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/kubefake"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/measure"
)

// FuzzLease explains a Job whose controller has a Lease with any content, as any user who may write Leases in one namespace
// can create one. The output is safe for a terminal, and its length is bounded by the names in it.
func FuzzLease(f *testing.F) {
	f.Add("ml", "lease", "host_uid", int32(15), started.Unix(), "0", "1")
	f.Add("", "", "", int32(0), int64(0), "", "")
	f.Add("\x1b[31m", "a\r\nb", "\u202e_\xff", int32(-1), int64(math.MinInt64), "-1", "-1")
	f.Add("ml", "lease", "x\x00y", int32(math.MaxInt32), int64(253402300800), "0", "1")
	f.Add("ml", "lease", "host", int32(math.MinInt32), int64(math.MaxInt64), "0", "1")
	f.Fuzz(func(t *testing.T, namespace, name, holder string, duration int32, renewed int64, index, count string) {
		hostile := hostileLease(namespace, name, index, count)
		hostile.Spec = coordinationv1.LeaseSpec{
			HolderIdentity: &holder, LeaseDurationSeconds: &duration, RenewTime: &metav1.MicroTime{Time: time.Unix(renewed, 0)},
		}
		given := input.Input{Now: started.Add(time.Minute), OurName: controller.DefaultManagedBy, Job: leasedJob(), PodsRead: true}
		given.Lease, _ = gather.ReadLease(t.Context(), kubefake.Client(fake.NewClientset(hostile)), leader.Leases{}, controller.DefaultManagedBy, "ml")
		measure.CheckAllocated(t, 32<<20, func() {
			for _, given.Lease = range []*input.Lease{given.Lease, ptr.To(input.LeaseOf(hostile))} {
				report := analysis.Explain(given, explain.Options{})
				shown := render(t, func(w io.Writer) error { return Explanation(w, report, Options{Width: 80, Full: true}) })
				checkHarmless(t, shown, false)
				stored, err := json.Marshal(report)
				if most := 20_000 + 30*len(namespace+name+holder); err != nil || max(len(stored), len(shown)) > most {
					t.Errorf("%v, %d bytes of JSON, and %d of text", err, len(stored), len(shown))
				}
			}
		})
	})
}

// hostileLease returns a Lease with the labels of this project's controller, and otherwise wrong content.
func hostileLease(namespace, name, index, count string) *coordinationv1.Lease {
	set := map[string]string{
		controller.AnnotationPrefix + "leases": "dd238d213a296c2f", // hash of the default managedBy value
		controller.AnnotationPrefix + "shard":  index, controller.AnnotationPrefix + "shards": count,
	}
	return &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: set}}
}

func leasedJob() *batchv1.Job {
	job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: "ml", Name: "train", UID: "uid", CreationTimestamp: *at(0)}}
	job.Spec.ManagedBy = ptr.To(controller.DefaultManagedBy)
	job.Status.StartTime = at(1)
	return job
}
