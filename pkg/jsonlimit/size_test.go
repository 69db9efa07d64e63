package jsonlimit

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/measure"
)

// inflating returns values that are short as JSON and large in memory.
func inflating(n int) map[string]string {
	times := func(s string) string { return "[" + strings.Repeat(s+",", n) + s + "]" }
	fields := func(s string) string {
		var all []string
		for i := range n {
			all = append(all, fmt.Sprintf(`"k%d":%s`, i, s))
		}
		return "{" + strings.Join(all, ",") + "}"
	}
	containers := func(s string) string { return `{"spec":{"containers":` + s + `}}` }
	return map[string]string{
		"empty objects": containers(times("{}")), "nulls": containers(times("null")), "spaces": containers(times(" {\n} ")),
		"another case": `{"SPEC":{"Containers":` + times("{}") + `}}`, "long s": `{"ſpec":{"containerſ":` + times("{}") + `}}`,
		"escapes": `{"\u0073pec":{"container\u0073":` + times("{}") + `}}`, "twice": `{"spec":{"containers":` + times("{}") + `,"containers":` + times("{}") + "}}",
		"volumes": `{"spec":{"volumes":` + times(`{"secret":{},"nfs":{}}`) + `}}`, "pointers": `{"spec":{"containers":` + times(`{"securityContext":{"capabilities":{}}}`) + `}}`,
		"map": `{"metadata":{"labels":` + fields(`""`) + `}}`, "quantities": `{"spec":{"overhead":` + fields(`"1"`) + `}}`, "names": `{"metadata":{"finalizers":` + times(`""`) + `}}`,
		"maps": containers(times(`{"resources":{"limits":{"a":"1"},"requests":{}}}`)), "unknown": `{"unknown":` + times("{}") + `}`,
		"large pointees": `{"spec":{"volumes":` + times(`{"ephemeral":{"volumeClaimTemplate":{}}}`) + `}}`,
	}
}

// The estimate is never below what the decoded value takes, and not far above it.
// Requirements: BUN-09
func TestEstimateIsAnUpperBound(t *testing.T) {
	for name, data := range inflating(3000) {
		for _, kind := range []reflect.Type{reflect.TypeFor[corev1.Pod](), reflect.TypeFor[map[string]any]()} {
			into := reflect.New(kind)
			empty := measure.Size(into.Interface())
			assert.NoError(t, json.Unmarshal([]byte(data), into.Interface()), name)
			takes := measure.Size(into.Interface()) - empty
			if estimate := sizeOf(kind, []byte(data), 1<<40) - int64(kind.Size()); estimate < takes || estimate > 6*takes+200_000 {
				t.Errorf("%s as %v: estimated %d, takes %d", name, kind, estimate, takes)
			}
		}
	}
}

// Values that would use too much memory are refused before they are decoded, and as soon as the limit is reached.
// Requirements: BUN-09
func TestTooMuchMemoryIsRefused(t *testing.T) {
	for name, data := range inflating(200_000) {
		if name == "unknown" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			left := int64(1 << 20)
			var pod corev1.Pod
			var err error
			measure.CheckAllocated(t, 10*int64(len(data))+(2<<20), func() { err = NewDecoder(strings.NewReader(data), 64<<20, &left).Decode(&pod) })
			if !errors.Is(err, ErrMemory) || !reflect.DeepEqual(pod, corev1.Pod{}) || left < -10_000 {
				t.Errorf("error %v, %d bytes left, the pod takes %d", err, left, measure.Size(&pod))
			}
		})
	}
}

// Several values share the remaining memory, and the limit of length applies to each.
// Requirements: BUN-09
func TestValuesShareTheMemory(t *testing.T) {
	left := int64(4000)
	d := NewDecoder(strings.NewReader(strings.Repeat("{}\n", 10)), 5, &left)
	for range 3 {
		assert.NoError(t, d.Decode(&corev1.Pod{}))
	}
	if err := d.Decode(&corev1.Pod{}); !errors.Is(err, ErrMemory) {
		t.Errorf("error %v, %d left", err, left)
	}
	left = 1 << 20
	if err := NewDecoder(strings.NewReader(`"123456789"`), 5, &left).Decode(new(string)); err == nil || !strings.Contains(err.Error(), "longer than 5 bytes") {
		t.Errorf("error %v", err)
	}
	if err := NewDecoder(strings.NewReader("  "), 5, &left).Decode(new(string)); !errors.Is(err, io.EOF) {
		t.Errorf("error %v", err)
	}
}

// Members are decoded one by one; values other than objects and arrays are refused.
// Requirements: BUN-09
func TestMembersAreDecodedOneByOne(t *testing.T) {
	left := int64(1 << 20)
	for data, want := range map[string]string{`{"a":1,"b":[2]}`: "a=1 b=[2] ", "null": "", "{}": "", `{"a":1`: "a=1 unexpected EOF", "[1]": "it has [ in place of {", `{"a"}`: "error"} {
		got := ""
		d := NewDecoder(strings.NewReader(data), 100, &left)
		err := d.Members('{', func(name string) error {
			raw, err := d.Raw()
			if err == nil {
				got += name + "=" + string(raw) + " "
			}
			return err
		})
		switch {
		case err != nil && want == "error":
			continue
		case err != nil:
			got += err.Error()
		}
		assert.Equalf(t, got, want, "%s became", data)
	}
}

// The size of any JSON can be estimated.
func FuzzSize(f *testing.F) {
	for _, data := range inflating(2) {
		f.Add([]byte(data))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if !json.Valid(data) {
			t.Skip()
		}
		for _, limit := range []int64{0, 1000, 1 << 40} {
			sizeOf(reflect.TypeFor[corev1.Pod](), data, limit)
		}
	})
}
