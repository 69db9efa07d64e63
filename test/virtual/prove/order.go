package prove

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// inStore is the owner of versions in the API server.
const inStore = -1

// writtenVersion is the resourceVersion of an object, or the position up to which a process has seen a class of objects.
// Only comparisons matter: between versions of one object in a process or in the store, and between a process's position
// and its versions.
type writtenVersion struct {
	version int64
	// object is the UID; a position has none.
	object types.UID
	class  tokenClass
	owner  int
}

// comparedTime is a moment, or a time of the Checker: times of the Checker are only compared with moments.
type comparedTime struct {
	at       time.Time
	isMoment bool
}

// token encodes the version of an object.
func (e *encoder) token(class tokenClass, v int64) {
	if e.checking || e.unversioned {
		return
	}
	if n := e.run.lastWrite(class, v); n >= 0 {
		e.written(class, n, uidOf(&e.run.world.Journal().Commits()[n]))
		return
	}
	e.text("no version")
}

// position encodes the version up to which a watch or a list has the versions of a resource.
func (e *encoder) position(class tokenClass, v int64) {
	e.written(class, e.run.lastWrite(class, v), "")
}

// written encodes the version of a commit, or 0 if commit is -1.
func (e *encoder) written(class tokenClass, commit int, object types.UID) {
	v := int64(0)
	if commit >= 0 {
		v = e.run.world.Journal().Commits()[commit].Version
	}
	e.versions = append(e.versions, writtenVersion{v, object, class, e.owner})
}

// among returns how a version compares to others: the number of different smaller versions with the same owner, of
// smaller stored versions, whether the same version is stored, and the number of smaller positions.
func (v writtenVersion) among(all []writtenVersion) [4]int64 {
	var own, stored, same, seen []int64
	add := func(list *[]int64, n int64) {
		if !slices.Contains(*list, n) {
			*list = append(*list, n)
		}
	}
	for _, other := range all {
		smaller := other.version < v.version
		switch {
		case v.class != other.class:
		case other.object == "" && other.owner == v.owner && smaller:
			add(&seen, other.version)
		case v.object == "" || v.object != other.object:
		case other.owner == v.owner && smaller:
			add(&own, other.version)
		case other.owner == inStore && smaller:
			add(&stored, other.version)
		case other.owner == inStore && other.version == v.version:
			add(&same, other.version)
		}
	}
	return [4]int64{int64(len(own)), int64(len(stored)), int64(len(same)), int64(len(seen))}
}

// ranksOf returns numbers in the order of the times. Times of one kind have the same number if no time of the other kind
// is between them. A moment is before a time that is equal to it.
func ranksOf(all []comparedTime) []int64 {
	order := make([]int, len(all))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		if c := all[a].at.Compare(all[b].at); c != 0 || all[a].isMoment == all[b].isMoment {
			return c
		}
		if all[a].isMoment {
			return -1
		}
		return 1
	})
	ranks := make([]int64, len(all))
	for i, at := range order {
		if i == 0 {
			continue
		}
		before := order[i-1]
		ranks[at] = ranks[before]
		if all[at].isMoment != all[before].isMoment {
			ranks[at]++
		}
	}
	return ranks
}

// compare encodes a time of the Checker that is compared with moments.
func (e *encoder) compare(t time.Time) { e.compared = append(e.compared, comparedTime{at: t}) }

// comparedWith encodes a moment.
func (e *encoder) comparedWith(t time.Time) {
	e.compared = append(e.compared, comparedTime{at: t, isMoment: true})
}
