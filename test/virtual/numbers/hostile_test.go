package numbers

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"reflect"
	"regexp"
	"testing"
	"time"

	"k8s.io/utils/ptr"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/whatif"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/measure"
)

// changer changes the times in a Job's input.
type changer struct {
	*rand.Rand
	times []time.Time
}

// change replaces some of the times in a value. It copies pointees and slices, which other values share.
func (c changer) change(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() && v.CanSet() {
			other := reflect.New(v.Type().Elem())
			other.Elem().Set(v.Elem())
			v.Set(other)
			c.change(v.Elem())
		}
	case reflect.Slice:
		other := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		reflect.Copy(other, v)
		for i := range other.Len() {
			c.change(other.Index(i))
		}
		if v.CanSet() && !v.IsNil() {
			v.Set(other)
		}
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			if c.IntN(2) == 0 {
				v.Set(reflect.ValueOf(one(c.Rand, c.times...)))
			}
			return
		}
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				c.change(v.Field(i))
			}
		}
	}
}

// changed returns the moment with other times in its Job, pods, events and Lease.
func (c changer) changed(m moment) moment {
	m.input.Job = m.input.Job.DeepCopy()
	for _, part := range []any{&m.input.Job.ObjectMeta, &m.input.Job.Status, &m.input.Pods, &m.input.Events, &m.input.Lease} {
		c.change(reflect.ValueOf(part).Elem())
	}
	return m
}

// mostOutput is larger than any output about a Job of the oracle's cases.
const mostOutput = 1 << 20

// mostAllocated is more than all outputs of a Job and its replay allocate in total.
const mostAllocated = 1 << 30

// checkTexts fails for an output that is too long or matches bad, and for invalid JSON.
func checkTexts(t *testing.T, m *moment, bad *regexp.Regexp) {
	t.Helper()
	_, outputs := m.outputs(t, nil)
	for _, o := range outputs {
		if at := bad.FindStringIndex(o.text); at != nil {
			t.Errorf("%v: %s: …%s…", m, o.name, o.text[max(0, at[0]-100):min(len(o.text), at[1]+100)])
		}
		if len(o.text) > mostOutput {
			t.Errorf("%v: %s has %d bytes", m, o.name, len(o.text))
		}
		if o.name == "json" {
			assert.NoError(t, json.Unmarshal([]byte(o.text), &explain.Report{}), m)
		}
	}
}

// sinceNever matches ages and offsets of the zero time, which is in the year 1.
var sinceNever = regexp.MustCompile(`292y|0001-01-01|106751d|2562047h|\b73\d{4}d`)

// Every time in the API may be missing or the zero time. It then has no age, no offset and no duration.
// Requirements: CLI-13
func TestMissingTimesHaveNoAge(t *testing.T) {
	n := 0
	for seed := uint64(0); n < 150; seed++ {
		for _, m := range momentsOf(seed) {
			n++
			c := changer{rand.New(rand.NewPCG(seed, 7)), []time.Time{{}}}
			m = c.changed(m)
			checkTexts(t, &m, sinceNever)
		}
	}
}

// FuzzHostileStatuses renders all outputs of Jobs with times from the year 0 to 9999, and with the largest numbers and
// longest lists, and replays them as an explanation does.
func FuzzHostileStatuses(f *testing.F) {
	for seed := range uint64(40) {
		f.Add(seed, seed%5 == 0, "x\x1b[31m", "0,2,4-9,7")
	}
	overflow := regexp.MustCompile(`106751d|2562047h`)
	f.Fuzz(func(t *testing.T, seed uint64, large bool, text, list string) {
		moments := momentsOf(seed % 1000)
		if len(moments) == 0 {
			t.Skip()
		}
		rng := rand.New(rand.NewPCG(seed, 7))
		m := one(rng, moments...)
		at := func(year int) time.Time { return time.Date(year, 1, 1, 0, 0, 1, 0, time.UTC) }
		c := changer{rng, []time.Time{{}, at(0), at(1), at(1969), time.Unix(0, 0), at(2026), at(9999), m.input.Now, m.input.Now.Add(time.Hour), m.input.Now.AddDate(-300, 0, 0)}}
		m = c.changed(m)
		spec, status := &m.input.Job.Spec, &m.input.Job.Status
		for i := range status.Conditions {
			status.Conditions[i].Message += text
		}
		if large {
			status.CompletedIndexes, status.FailedIndexes = one(rng, list, "0-2147483646"), ptr.To(one(rng, "", list, "0-2147483646"))
			spec.ActiveDeadlineSeconds, spec.TTLSecondsAfterFinished = ptr.To(one[int64](rng, 0, math.MaxInt64)), ptr.To[int32](math.MaxInt32)
			spec.Completions = ptr.To[int32](math.MaxInt32)
			status.Succeeded, status.Failed, status.Active = one[int32](rng, 0, math.MaxInt32), one[int32](rng, 0, math.MaxInt32), one[int32](rng, 0, math.MaxInt32)
		}
		measure.CheckAllocated(t, mostAllocated, func() {
			checkTexts(t, &m, overflow)
			whatif.Quote(t.Context(), m.input, []explain.Advice{{Policies: &explain.Policies{ActiveDeadlineSeconds: ptr.To[int64](60)}}})
		})
	})
}
