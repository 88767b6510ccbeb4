# `lockstep serve` assumes this role for each run, with a policy that limits the rights here to
# the run's own state. template.yaml has other roles for the functions.

data "aws_iam_policy_document" "trust" {
  count = length(var.trusted_arns) == 0 ? 0 : 1

  statement {
    actions = ["sts:AssumeRole"]

    principals {
      type        = "AWS"
      identifiers = var.trusted_arns
    }

    condition {
      test     = "StringEquals"
      variable = "sts:ExternalId"
      values   = [var.external_id]
    }

    condition {
      test     = "StringLike"
      variable = "aws:RequestTag/repository"
      values   = ["?*/?*"]
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
      identifiers = var.trusted_arns
    }

    condition {
      test     = "StringLike"
      variable = "aws:RequestTag/repository"
      values   = ["?*/?*"]
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

resource "aws_iam_role" "states" {
  count = length(var.trusted_arns) == 0 ? 0 : 1

  name                 = "${var.bucket}-states"
  description          = "Lockstep assumes this role to reach the states in ${var.bucket}, each run its own state."
  assume_role_policy   = data.aws_iam_policy_document.trust[0].json
  max_session_duration = 3600
  tags                 = var.tags
}

resource "aws_iam_role_policy" "states" {
  count = length(var.trusted_arns) == 0 ? 0 : 1

  name   = "states"
  role   = aws_iam_role.states[0].id
  policy = data.aws_iam_policy_document.states.json
}

data "aws_iam_policy_document" "states" {
  statement {
    sid       = "States"
    actions   = ["s3:GetObject", "s3:PutObject"]
    resources = ["${aws_s3_bucket.states.arn}/*"]
  }

  statement {
    sid       = "LockFiles"
    actions   = ["s3:DeleteObject"]
    resources = ["${aws_s3_bucket.states.arn}/*.tflock", "${aws_s3_bucket.states.arn}/.lockstep/journal/*"]
  }

  # Without it, a missing object looks like a forbidden one.
  statement {
    sid       = "There"
    actions   = ["s3:ListBucket"]
    resources = [aws_s3_bucket.states.arn]
  }

  statement {
    sid       = "Key"
    actions   = ["kms:Decrypt", "kms:GenerateDataKey"]
    resources = [aws_kms_key.states.arn]
  }

  # The keys of encryption blocks. What S3 has encrypted has an encryption context.
  dynamic "statement" {
    for_each = length(var.encryption_key_arns) == 0 ? [] : [var.encryption_key_arns]

    content {
      sid       = "EncryptionKeys"
      actions   = ["kms:Decrypt", "kms:GenerateDataKey"]
      resources = statement.value

      condition {
        test     = "Null"
        variable = "kms:EncryptionContextKeys"
        values   = ["true"]
      }
    }
  }

  dynamic "statement" {
    for_each = aws_dynamodb_table.locks

    content {
      sid       = "Locks"
      actions   = ["dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:DeleteItem"]
      resources = [statement.value.arn]
    }
  }
}
