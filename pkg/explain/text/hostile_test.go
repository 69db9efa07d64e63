package text

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

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
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/kubefake"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/measure"
)

// poison fills every string of v with text, numbered so that no two are alike, and every
// number with n; lists get two elements.
func poison(v reflect.Value, text string, n int64, count *int) {
	switch v.Kind() {
	case reflect.String:
		*count++
		if v.String() == "" {
			v.SetString(fmt.Sprintf("%s%d%s", text, *count, text))
		}
	case reflect.Int32, reflect.Int64:
		v.SetInt(n)
	case reflect.Bool:
		v.SetBool(n%2 == 1)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		poison(v.Elem(), text, n, count)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range 2 {
			poison(v.Index(i), text, n, count)
		}
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[metav1.Time]() {
			v.Set(reflect.ValueOf(*at(int(n % 10000))))
			return
		}
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				poison(v.Field(i), text, n, count)
			}
		}
	}
}

// hostile returns a list of Reports with text in every string, with two outcomes and two values of Aliveness.
func hostile(text string, n int64) explain.ReportList {
	var l explain.ReportList
	count := 0
	poison(reflect.ValueOf(&l).Elem(), text, n, &count)
	for i := range l.Items {
		l.Items[i].Verdict.Outcome = []reconcile.Outcome{reconcile.OutcomeFailed, reconcile.OutcomeOpen}[i%2]
		l.Items[i].Reconciler.Alive = []explain.Aliveness{explain.NotAlive, explain.AlivenessUnknown}[i%2]
	}
	return l
}

var ownSequences = func() *regexp.Regexp {
	return regexp.MustCompile(`\x1b\[(?:1|2|3[1-6]|1;3[1-6])?m`)
}()

// checkHarmless fails the test if the output has a control character except the newline, or anything else that a terminal
// interprets or hides.
func checkHarmless(t *testing.T, got string, color bool) {
	t.Helper()
	if !utf8.ValidString(got) {
		t.Errorf("invalid UTF-8 in %.200q", got)
	}
	if color {
		got = ownSequences.ReplaceAllString(got, "")
	}
	for _, r := range got {
		if r != '\n' && (unicode.IsControl(r) || r >= 0x200b && r <= 0x200f || r >= 0x2028 && r <= 0x202e || r >= 0x2060 && r <= 0x206f) {
			t.Fatalf("%U survives in %.200q", r, got)
		}
	}
}

func checkAllDrawings(t *testing.T, l explain.ReportList) {
	t.Helper()
	for _, o := range []Options{{}, {Color: true}, {Width: 60}, {Width: 80, Color: true, Full: true}, {Width: 1, ASCII: true}} {
		for i := range l.Items {
			checkHarmless(t, render(t, func(w io.Writer) error { return Explanation(w, l.Items[i], o) }), o.Color)
			checkHarmless(t, render(t, func(w io.Writer) error { return Short(w, l.Items[i], o) }), o.Color)
			checkHarmless(t, render(t, func(w io.Writer) error { return Summary(w, l.Items[i], o) }), o.Color)
		}
		checkHarmless(t, render(t, func(w io.Writer) error { return Explanations(w, l, o) }), o.Color)
	}
}

// ux.md, untrusted text (CVE-2021-25743): whatever a Report contains, the output is safe for a terminal.
func TestHostileReportsAreSafeOnATerminal(t *testing.T) {
	for _, text := range []string{
		"\x1b[2J", "\x1b]0;title\x07", "\r\n", "a\tb", "\x9b31m", "\u009b31m", "\u202e", "\u2028", "\u200b", "\xff\xfe",
		strings.Repeat("e\u0301\u0301\u0301", 30), strings.Repeat("👩‍👩‍👧", 12), strings.Repeat("長", 60), strings.Repeat("x,", 60), "\x00", "%s%d%!", "   ", "\x1b[31m", "\ufffd",
		"e" + strings.Repeat("\u0301", 100),
	} {
		for _, n := range []int64{0, 7, -1, 1<<31 - 1} {
			checkAllDrawings(t, hostile(text, n))
		}
	}
}

// The fixture sets each string field; otherwise the test above would miss it.
func TestHostileReportsHaveTextEverywhere(t *testing.T) {
	l := hostile("bad", 1)
	got := render(t, func(w io.Writer) error { return Explanation(w, l.Items[0], Options{Full: true}) })
	if n := strings.Count(got, "bad"); n < 100 {
		t.Errorf("only %d hostile strings are drawn:\n%s", n, got)
	}
}

func FuzzHostileReports(f *testing.F) {
	f.Add("\x1b[31m", int64(1))
	f.Add("長い\u202e\u0301", int64(-7))
	f.Fuzz(func(t *testing.T, text string, n int64) {
		checkAllDrawings(t, hostile(text, n))
	})
}

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
