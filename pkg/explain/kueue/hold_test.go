package kueue

import (
	"strings"
	"testing"
	"time"
)

func TestEveryHoldHasWords(t *testing.T) {
	kinds := []HoldKind{QuotaInUse, QuotaTooSmall, NoResource, BorrowingLimit, NoQueue, QueueMissing, QueueStopped, Deactivated, UntoleratedTaint, NotSelected, FlavorMismatch, FlavorMissing, InvalidRequests, NotResumed, NotRequeued, AdmissionChecks, Other}
	if len(holds) != len(kinds) {
		t.Errorf("%d rows for %d kinds", len(holds), len(kinds))
	}
	for _, kind := range kinds {
		h := Hold{Kind: kind}
		text, _ := h.Text("the Job", "", time.Time{})
		if h.row().kind != kind || h.Advice() == "" || text == "" || strings.ContainsAny(text+strings.ReplaceAll(h.Advice(), "{recreate}", ""), "{}") {
			t.Errorf("%s: %q, %q", kind, text, h.Advice())
		}
	}
}

// A smaller request for a resource without a quota is not admitted either.
//
// Requirements: CLI-18
func TestResourceWithoutQuotaNeedsAQuota(t *testing.T) {
	hold := Hold{Kind: NoResource, Resource: "memory"}
	if got := hold.Advice(); !strings.Contains(got, "have memory added to the resourceGroups") || strings.Contains(got, "smaller requests") {
		t.Error(got)
	}
}
