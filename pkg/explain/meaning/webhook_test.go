package meaning

import "testing"

// webhookCases are messages about a webhook, which the API server calls through its Service.
func webhookCases() map[string]Trouble {
	const call = `failed calling webhook "v.kyverno.svc-fail": failed to call webhook: Post "https://kyverno-svc.kyverno.svc:443/validate/fail?timeout=10s": `
	return map[string]Trouble{
		call + `no endpoints available for service "kyverno-svc"`:                                          {Kind: NoEndpoints, Name: "kyverno-svc"},
		call + `service "kyverno-svc" not found`:                                                           {Kind: NoService, Name: "kyverno-svc"},
		call + `dial tcp 10.96.0.7:443: connect: connection refused`:                                       {Kind: Refused, Name: "kyverno-svc", Detail: "dial tcp 10.96.0.7:443: connect: connection refused"},
		call + `context deadline exceeded`:                                                                 {Kind: NoAnswer, Name: "kyverno-svc", Detail: "context deadline exceeded"},
		call + `tls: failed to verify certificate: x509: certificate signed by unknown authority`:          {Kind: Certificate, Name: "kyverno-svc", Detail: "x509: certificate signed by unknown authority"},
		`failed calling webhook "w": received invalid webhook response: expected response.uid="1", got ""`: {},
	}
}

// Requirements: PND-05
func TestWebhookThatCannotBeCalledHasAMeaning(t *testing.T) {
	for message, want := range webhookCases() {
		got := troubleOf(OfWebhook(message))
		if got.Kind != want.Kind || got.Name != want.Name || (want.Detail == "") != (got.Detail == "") {
			t.Errorf("%s: %+v\nwant %+v", message, got, want)
		}
	}
}
