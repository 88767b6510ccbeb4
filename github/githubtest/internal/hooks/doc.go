// Package hooks is the sending side of webhooks: payloads wait, are delivered in order, signed,
// and can be delivered again; each attempt can be read afterwards, by the same requests as on
// GitHub. It refuses to know why a webhook is sent and what is in it. Start at [Outbox].
package hooks
