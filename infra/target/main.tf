# The permissions of providers in an account: two roles, one for plans and one for applies.
# Lockstep's functions assume them, each its own, and nobody else can.

terraform {
  required_version = ">= 1.5"

  required_providers {
    aws = {
      source  = "hashicorp/aws"
      version = ">= 5.0"
    }
  }
}

locals {
  trusted = {
    plan  = var.plan_function_role_arn
    apply = var.apply_function_role_arn
  }

  policies = {
    plan  = var.plan_policy_arns
    apply = var.apply_policy_arns
  }

  # Actions that are denied to plans; those by which secrets and states are read, only for others than
  # secret_arns and remote_state_arns, and decryption unless Secrets Manager, Parameter Store or S3 asks for it.
  readers = length(var.secret_arns) == 0 ? [] : ["secretsmanager:GetSecretValue", "ssm:GetParameter*", "ssm:GetParameter"]
  objects = length(var.remote_state_arns) == 0 ? [] : ["s3:GetObject*", "s3:GetObject"]
  askers = concat(
    length(var.secret_arns) == 0 ? [] : ["secretsmanager.*.amazonaws.com", "ssm.*.amazonaws.com"],
    length(var.remote_state_arns) == 0 ? [] : ["s3.*.amazonaws.com"],
  )
  keys = length(local.askers) == 0 ? [] : ["kms:Decrypt"]
  denied = {
    secret = [for a in var.plan_denied_actions : a if contains(local.readers, a)]
    object = [for a in var.plan_denied_actions : a if contains(local.objects, a)]
    key    = [for a in var.plan_denied_actions : a if contains(local.keys, a)]
    other  = [for a in var.plan_denied_actions : a if !contains(concat(local.readers, local.objects, local.keys), a)]
  }

  # Every pair of a role and a policy of it.
  attachments = merge([
    for role, arns in local.policies : { for arn in arns : "${role} ${arn}" => { role = role, arn = arn } }
  ]...)
}

# The function names the repository and the pull request as tags; without them, or for
# another repository, it gets no credentials.
data "aws_iam_policy_document" "trust" {
  for_each = local.trusted

  statement {
    actions = ["sts:AssumeRole"]

    principals {
      type        = "AWS"
      identifiers = [each.value]
    }

    condition {
      test     = "StringEquals"
      variable = "sts:ExternalId"
      values   = [var.external_id]
    }

    condition {
      test     = "StringEquals"
      variable = "aws:RequestTag/repository"
      values   = var.repositories
    }

    condition {
      test     = "StringLike"
      variable = "aws:RequestTag/pull"
      values   = ["?*"]
    }

    condition {
      test     = "ForAllValues:StringEquals"
      variable = "aws:TagKeys"
      values   = ["repository", "pull", "project", "actor"]
    }
  }

  # This action has no external ID.
  statement {
    actions = ["sts:TagSession"]

    principals {
      type        = "AWS"
      identifiers = [each.value]
    }

    condition {
      test     = "StringEquals"
      variable = "aws:RequestTag/repository"
      values   = var.repositories
    }

    condition {
      test     = "StringLike"
      variable = "aws:RequestTag/pull"
      values   = ["?*"]
    }

    condition {
      test     = "ForAllValues:StringEquals"
      variable = "aws:TagKeys"
      values   = ["repository", "pull", "project", "actor"]
    }
  }
}

resource "aws_iam_role" "provider" {
  for_each = local.trusted

  name                 = "${var.name}-${each.key}"
  description          = "Providers use this role when Lockstep must ${each.key} a pull request."
  assume_role_policy   = data.aws_iam_policy_document.trust[each.key].json
  permissions_boundary = var.permissions_boundary_arn
  max_session_duration = 3600
  tags                 = var.tags
}

resource "aws_iam_role_policy_attachment" "provider" {
  for_each = local.attachments

  role       = aws_iam_role.provider[each.value.role].name
  policy_arn = each.value.arn
}

# Planning runs code of a pull request, and a read-only policy also lets it read data, which
# plans rarely need.
resource "aws_iam_role_policy" "denied" {
  count = length(var.plan_denied_actions) == 0 ? 0 : 1

  name   = "denied"
  role   = aws_iam_role.provider["plan"].id
  policy = data.aws_iam_policy_document.denied.json
}

# What reads secrets and states is denied for all but those that are named.
data "aws_iam_policy_document" "denied" {
  dynamic "statement" {
    for_each = length(local.denied.other) == 0 ? [] : [local.denied.other]

    content {
      sid       = "Denied"
      effect    = "Deny"
      actions   = statement.value
      resources = ["*"]
    }
  }

  dynamic "statement" {
    for_each = length(local.denied.secret) == 0 ? [] : [local.denied.secret]

    content {
      sid           = "OtherSecrets"
      effect        = "Deny"
      actions       = statement.value
      not_resources = var.secret_arns
    }
  }

  dynamic "statement" {
    for_each = length(local.denied.object) == 0 ? [] : [local.denied.object]

    content {
      sid           = "OtherObjects"
      effect        = "Deny"
      actions       = statement.value
      not_resources = var.remote_state_arns
    }
  }

  dynamic "statement" {
    for_each = length(local.denied.key) == 0 ? [] : [local.denied.key]

    content {
      sid       = "OtherKeys"
      effect    = "Deny"
      actions   = statement.value
      resources = ["*"]

      condition {
        test     = "StringNotLike"
        variable = "kms:ViaService"
        values   = local.askers
      }
    }
  }
}

resource "aws_iam_role_policy" "secrets" {
  for_each = length(var.secret_arns) == 0 ? {} : aws_iam_role.provider

  name   = "secrets"
  role   = each.value.id
  policy = data.aws_iam_policy_document.secrets.json
}

data "aws_iam_policy_document" "secrets" {
  statement {
    sid       = "Secrets"
    actions   = ["secretsmanager:GetSecretValue", "ssm:GetParameter"]
    resources = length(var.secret_arns) == 0 ? ["*"] : var.secret_arns
  }

  # Those that a key of the account's own encrypts.
  statement {
    sid       = "Keys"
    actions   = ["kms:Decrypt"]
    resources = ["*"]

    condition {
      test     = "StringLike"
      variable = "kms:ViaService"
      values   = ["secretsmanager.*.amazonaws.com", "ssm.*.amazonaws.com"]
    }
  }
}

resource "aws_iam_role_policy" "remote_states" {
  for_each = length(var.remote_state_arns) == 0 ? {} : aws_iam_role.provider

  name   = "remote-states"
  role   = each.value.id
  policy = data.aws_iam_policy_document.remote_states.json
}

data "aws_iam_policy_document" "remote_states" {
  statement {
    sid       = "States"
    actions   = ["s3:GetObject"]
    resources = length(var.remote_state_arns) == 0 ? ["*"] : var.remote_state_arns
  }

  # Those that a key of the account's own encrypts.
  statement {
    sid       = "Keys"
    actions   = ["kms:Decrypt"]
    resources = ["*"]

    condition {
      test     = "StringLike"
      variable = "kms:ViaService"
      values   = ["s3.*.amazonaws.com"]
    }
  }
}
