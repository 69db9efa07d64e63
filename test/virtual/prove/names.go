package prove

import (
	"cmp"
	"encoding/binary"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/batchjob-dev/kubectl-batchjob/test/cluster/history"
)

// renaming gives pods other numbers: pod n gets the number at n-1. The empty renaming changes nothing.
type renaming string

const (
	// podPrefix is the beginning of a pod's name, before the number.
	podPrefix = "a-p"
	// nameless gives all pods the same name.
	nameless renaming = "000000000"
)

// renamings returns all ways to name n pods; the first changes nothing.
func renamings(n int) []renaming {
	all := []renaming{""}
	for number := range n {
		var longer []renaming
		for _, names := range all {
			for at := len(names); at >= 0; at-- {
				longer = append(longer, names[:at]+renaming('1'+rune(number))+names[at:])
			}
		}
		all = longer
	}
	all[0] = ""
	return all
}

// apply renames the pods in a text.
func (n renaming) apply(text string) string {
	at := 0
	if n != "" {
		at = strings.Index(text, podPrefix) + 1
	}
	if at == 0 {
		return text
	}
	out := []byte(text)
	for ; at+len(podPrefix) <= len(out); at++ {
		number := &out[at+len(podPrefix)-1]
		if i := int(*number) - '1'; i >= 0 && i < len(n) && strings.HasPrefix(text[at-1:], podPrefix) {
			*number = n[i]
		}
	}
	return string(out)
}

// sorted returns versions in the order of the new names of their objects.
func (n renaming) sorted(all []objectVersion) []objectVersion {
	if n == "" {
		return all
	}
	all = slices.Clone(all)
	slices.SortFunc(all, func(a, b objectVersion) int { return cmp.Compare(n.apply(a.uid), n.apply(b.uid)) })
	return all
}

func (f fingerprint) number() uint64 { return binary.LittleEndian.Uint64(f[:]) }

// canonical returns names for the pods of a symmetric world that depend on their state: histories that differ only in
// the names of pods get the same names, as far as the pods' own states distinguish them.
func canonical(r *run) renaming {
	n := min(r.world.Store.State().Generated, r.symmetric)
	if n < 2 || r.exact {
		return ""
	}
	type place struct {
		number             int
		signature, version int64
	}
	var places []place
	for number := 1; number <= n; number++ {
		signature, version := signature(r, podPrefix+string('0'+rune(number)))
		places = append(places, place{number, int64(signature.number()), version})
	}
	slices.SortFunc(places, func(a, b place) int {
		return cmp.Or(cmp.Compare(a.signature, b.signature), cmp.Compare(a.version, b.version), cmp.Compare(a.number, b.number))
	})
	names := []byte("123456789")[:r.symmetric]
	for at, p := range places {
		names[p.number-1] = '1' + byte(at)
	}
	if slices.IsSorted(names) {
		return ""
	}
	return renaming(names)
}

// signature returns a hash of a pod's state without its name, and its version.
func signature(r *run, name string) (fingerprint, int64) {
	e, w := newEncoder(r, nameless), r.world
	uid, version := "uid-"+name, int64(0)
	if pod := w.Store.Pods()[name]; pod != nil {
		e.value(reflect.ValueOf(pod))
		version, _ = strconv.ParseInt(pod.ResourceVersion, 10, 64)
	}
	for _, v := range w.Pending() {
		if strings.HasSuffix(v.Text(), " "+name) || v.Call().Object == name {
			e.number(int64(v.Kind()))
			e.text(v.Text() + v.Call().Verb)
		}
	}
	for _, p := range w.Processes() {
		for at, v := range e.pending(p) {
			if c := v.Commit(); c != nil && c.NewPod != nil && c.NewPod.Name == name {
				e.number(int64(at))
				e.value(reflect.ValueOf(c.NewPod))
			}
		}
		pods := reflect.ValueOf(p.Cache()).Elem().FieldByName("pods")
		for _, table := range []string{"rows", "gone"} {
			if row := pods.FieldByName(table).MapIndex(reflect.ValueOf(types.UID(uid))); row.IsValid() {
				e.value(row)
			}
		}
	}
	for _, h := range w.Checker.Order {
		if l := h.Lives[types.UID(uid)]; l != nil {
			e.value(reflect.ValueOf(*l))
		}
	}
	for _, job := range w.Store.Jobs() {
		for _, list := range [][]types.UID{history.UncountedFailed(&job.Status), history.UncountedSucceeded(&job.Status)} {
			e.flag(slices.Contains(list, types.UID(uid)))
		}
	}
	e.versions = nil
	return e.sum(), version
}
